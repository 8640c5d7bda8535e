package sessionstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// countIn returns the turn_count that a program reads which knows JSON alone, as the
// Python tools do, and how many messages of a person the transcript has.
func countIn(t testing.TB, dir string) (count, prompts int) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, victim, sessiondir.Metadata))
	require.NoError(t, err)
	var md struct {
		Turns int    `json:"turn_count"`
		Note  string `json:"note"`
	}
	require.NoError(t, json.Unmarshal(data, &md), "metadata.json is not whole: %q", data)
	require.Len(t, md.Note, 600)
	text, err := os.ReadFile(filepath.Join(dir, victim, sessiondir.Transcript))
	require.NoError(t, err)
	return md.Turns, strings.Count(string(text), `"role": "user"`)
}

// countFrom makes the victim a session with so many messages of a person, whose
// metadata take more than a sector.
func countFrom(t *testing.T, st *Store, prompts int) {
	t.Helper()
	var md Metadata
	require.NoError(t, md.Set("note", strings.Repeat("n", 600)))
	require.NoError(t, md.Set(turnsMember, prompts))
	require.NoError(t, st.Save(t.Context(), victim, rowsOf(prompts, 0, "before"), md))
	require.NoError(t, st.Append(t.Context(), victim, reply("settled")))
}

// mended requires that the next append of anything counts what is missing.
func mended(t *testing.T, dir string, s system) {
	t.Helper()
	st := openFaulty(t, dir, Durable, s.seam(nil, nil))
	require.NoError(t, st.Append(t.Context(), victim, reply("next")))
	require.NoError(t, st.Close())
	count, prompts := countIn(t, dir)
	require.Equal(t, prompts, count)
}

// TestCountAfterPowerCut cuts the power in appends of a person's messages, while the
// count gets other digits, and another length. In each state metadata.json is whole, the
// count is that of the transcript or one behind it, and the next append mends it.
func TestCountAfterPowerCut(t *testing.T) {
	t.Parallel()
	for _, processes := range []string{"one", "many"} {
		for _, from := range []int{7, 17, 97} {
			t.Run(fmt.Sprintf("processes=%s/from=%d", processes, from), func(t *testing.T) {
				t.Parallel()
				s, dir := system{name: "journal", ordered: true}, testenv.Scratch(t)
				st := openFaulty(t, dir, Durable, s.seam(nil, nil))
				countFrom(t, st, from)
				require.NoError(t, st.Close())
				rec, err := crashsim.Record(dir)
				require.NoError(t, err)
				st = openFaulty(t, dir, Durable, s.seam(nil, rec.After))
				for n := range 5 {
					require.NoError(t, st.Append(t.Context(), victim, row(0, "more", n)))
					rec.Acknowledge()
					count, prompts := countIn(t, dir)
					require.Equal(t, prompts, count)
					if processes == "many" {
						require.NoError(t, st.Close())
						st = openFaulty(t, dir, Durable, s.seam(nil, rec.After))
					}
				}
				require.NoError(t, st.Close())
				log, err := rec.Log()
				require.NoError(t, err)
				crash := &crashsim.Crash{Log: log, Seed: testenv.Seed(t), Max: 600, Ordered: true}
				base, n := testenv.Scratch(t), 0
				for state, err := range crash.States(nil) {
					require.NoError(t, err)
					d := filepath.Join(base, "d")
					require.NoError(t, state.Materialise(d))
					count, prompts := countIn(testenv.Lost(t), d)
					require.GreaterOrEqual(t, count, from+state.Acked, "%v", state)
					require.Contains(t, []int{prompts - 1, prompts}, count, "%v", state)
					if n++; n%10 == 0 {
						mended(t, d, s)
					}
					require.NoError(t, os.RemoveAll(d))
				}
				require.Greater(t, n, 50)
			})
		}
	}
}

// TestCountAfterKill ends an append of a person's message behind each operation, in the
// middle of each write too. metadata.json is whole then, its count is that of the
// transcript or one behind it, and the next append mends it.
func TestCountAfterKill(t *testing.T) {
	t.Parallel()
	killed := errors.New("killed")
	for _, d := range []Durability{Durable, Relaxed} {
		for _, from := range []int{8, 18, 98} {
			t.Run(fmt.Sprintf("%s/from=%d", d, from), func(t *testing.T) {
				t.Parallel()
				for at, done := 0, false; !done; at++ {
					dir, n, armed := testenv.Scratch(t), 0, false
					st := openFaulty(t, dir, d, &seam.Seam{Before: func(op seam.Op) error {
						if !armed {
							return nil
						}
						if n++; n <= at {
							return nil
						}
						if op.Kind == seam.Write && n == at+1 {
							return &seam.Short{N: len(op.Data) / 2, Err: killed}
						}
						return killed
					}})
					countFrom(t, st, from-1)
					require.NoError(t, st.Append(t.Context(), victim, row(0, "one")))
					armed = true
					err := st.Append(t.Context(), victim, row(0, "two"))
					armed = false
					require.NoError(t, st.Close())
					count, prompts := countIn(t, dir)
					require.Contains(t, []int{prompts - 1, prompts}, count, "after operation %d", at)
					if done = err == nil; done {
						require.Equal(t, prompts, count)
					} else {
						require.ErrorIs(t, err, killed)
					}
					mended(t, dir, system{})
				}
			})
		}
	}
}

// TestTurnCosts counts what a turn as an agent makes it does to the disk: of the four
// appends the prompt alone touches the metadata. It makes and removes no file. Its second
// file has one sync, which runs beside that of the transcript.
func TestTurnCosts(t *testing.T) { //nolint:paralleltest // see counted
	for _, d := range []Durability{Durable, Relaxed} {
		t.Run(d.String(), func(t *testing.T) { //nolint:paralleltest // see counted
			st, done := counted(t, t.TempDir(), Options{Durability: d})
			turn := []Message{say(t, "do"), reply("calls"), newMessage([]byte(`{"role": "tool", "content": "result"}`)), reply("done")}
			for n := range 40 {
				clear(done)
				for _, m := range turn {
					require.NoError(t, st.Append(t.Context(), "s", m))
				}
				if n < 2 || n == 9 || n == 10 { // the first, and those in which the length of the count changes
					continue
				}
				want := map[seam.Kind]int{seam.Write: 5, seam.Chtimes: 5, seam.Exchange: 5}
				if d == Durable {
					want[seam.Sync], want[seam.SyncDir] = 5, 4
				}
				require.Equal(t, want, done, "turn %d", n)
			}
		})
	}
}
