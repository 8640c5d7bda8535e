package workflow

import (
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/fault"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// beginnings are logs to which the faulty calls add.
var beginnings = map[string]string{
	"no log":     "",
	"whole log":  `{"id": 1, "role": "user", "content": "old"}` + "\n",
	"torn log":   `{"id": 1, "role": "user", "content": "old"}` + "\n" + `{"id": 2, "role": "user", "con`,
	"missing LF": `{"id": 1, "role": "user", "content": "old"}`,
}

// faulty returns a log, of the session s in a new directory, with a seam.
func faulty(t *testing.T, beginning string, seam *fault.Seam) (*Log, *sessionstore.Store) {
	t.Helper()
	l, st := newLog(t, `{}`)
	if beginning != "" {
		writeFile(t, st, conversationFile, beginning)
	}
	l.seam = seam
	return l, st
}

// old returns what a beginning holds.
func old(beginning string) []string {
	if beginning == "" {
		return []string{}
	}
	return []string{"old"}
}

// TestFailures fails every operation of three calls: what was acknowledged is
// found, what was refused is not, unless only a sync came to nothing, and the
// next call succeeds.
func TestFailures(t *testing.T) {
	t.Parallel()
	for name, beginning := range beginnings {
		for _, part := range []int{0, 50, 100} {
			t.Run(name+" part="+strconv.Itoa(part), func(t *testing.T) {
				t.Parallel()
				for at, hit := 0, true; hit; at++ {
					failer := &fault.Failer{At: at, Err: syscall.EIO, Part: part}
					l, st := faulty(t, beginning, &fault.Seam{Before: failer.Before})
					acknowledged := old(beginning)
					refused := ""
					for _, content := range []string{"a", "b", "c"} {
						_, err := l.AddMessage(t.Context(), "s", nil, userRole, content)
						if err == nil {
							acknowledged = append(acknowledged, content)
							continue
						}
						require.ErrorIs(t, err, syscall.EIO)
						refused = content
					}
					var op fault.Op
					op, hit = failer.Failed()
					require.Equal(t, hit, refused != "", "%v %v", at, op)
					found := contents(conversation(t, New(st)))
					if op.Kind == fault.SyncDir {
						found = slices.DeleteFunc(found, func(s string) bool { return s == refused })
					}
					require.Equal(t, acknowledged, found, "%v %v", at, op)
					add(t, New(st), nil, userRole, "next")
				}
			})
		}
	}
}

// TestPowerCuts looks at every state in which a power cut may leave the disk
// during three calls: acknowledged ⊆ found ⊆ attempted, and ids are of one
// message.
func TestPowerCuts(t *testing.T) {
	t.Parallel()
	for name, beginning := range beginnings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, st := faulty(t, beginning, nil)
			rec, err := fault.Record(st.Dir())
			require.NoError(t, err)
			l.seam = &fault.Seam{After: rec.After}
			attempted := old(beginning)
			for _, content := range []string{"a", "b", "c"} {
				add(t, l, nil, userRole, content)
				rec.Acknowledge()
				attempted = append(attempted, content)
			}
			require.NoError(t, rec.Verify(func(path string) bool { return filepath.Ext(path) == ".lock" }))
			log, err := rec.Log()
			require.NoError(t, err)
			var tally fault.Tally
			for s, err := range (&fault.Crash{Log: log, Seed: 1, Max: 250}).States(&tally) {
				require.NoError(t, err)
				checkCut(t, s, attempted, len(old(beginning))+s.Acked)
			}
			t.Log(tally)
			require.Positive(t, tally.States)
		})
	}
}

func checkCut(t *testing.T, s *fault.State, attempted []string, acknowledged int) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "d")
	require.NoError(t, s.Materialise(dir))
	st, err := sessionstore.Open(dir, nil)
	require.NoError(t, err)
	l := New(st)
	found := contents(conversation(t, l))
	require.GreaterOrEqual(t, len(found), acknowledged, s)
	require.Equal(t, attempted[:len(found)], found, s)
	require.Equal(t, int64(len(found)+1), add(t, l, nil, userRole, "next"), s)
	require.Equal(t, append(found, "next"), contents(conversation(t, l)), s)
	require.NoError(t, st.Close())
}
