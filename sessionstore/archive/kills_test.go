package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// readForever makes sessions in the store dir of the session's directory from
// and of the archive beside it, in turn.
func readForever(dir, from string) error {
	st, err := core.Open(dir, &sessionstore.Options{Workspace: "/w", Durability: sessionstore.Relaxed}, testenv.KillPoint())
	if err != nil {
		return err
	}
	packed, err := os.ReadFile(from + ".tar")
	if err != nil {
		return errors.Join(err, st.Close())
	}
	for n := 0; ; n++ {
		id := sessionstore.NewID()
		fmt.Println("begin " + id)
		if n%2 == 0 {
			_, err = ReadDir(context.Background(), from, st, &ReadOptions{ID: id})
		} else {
			_, err = Read(context.Background(), bytes.NewReader(packed), st, &ReadOptions{ID: id})
		}
		if err != nil {
			return errors.Join(err, st.Close())
		}
		fmt.Println("done " + id)
	}
}

// TestKills kills imports: a session is there whole or not at all, and what was
// said to be there is.
func TestKills(t *testing.T) {
	t.Parallel()
	source := open(t, nil)
	full(t, source, "s")
	from := filepath.Join(source.Dir(), "s")
	require.NoError(t, WriteFile(t.Context(), from+".tar", source, []string{"s"}, nil))
	st := open(t, nil)
	want := files(t, from)
	delete(want, "metadata.json") // which has the id

	seed := testenv.Seed(t)
	rng, lost := rand.New(rand.NewPCG(seed, 0)), testenv.Lost(t)
	v := testenv.Victim{
		Name: "read", Dir: st.Dir(), Argument: from, Rounds: testenv.KillRounds(),
		Operations: 60, First: 30, Within: 20 * time.Millisecond,
		Acknowledges: func(line string) bool { return strings.HasPrefix(line, "done ") },
	}
	for round := range v.Rounds {
		begun, done := "", map[string]bool{}
		v.Kill(t, round, rng, func(line string) {
			what, id, ok := strings.Cut(line, " ")
			require.True(t, ok, line)
			if what == "begin" {
				begun = id
			} else {
				done[id] = true
			}
		})
		sessions, err := st.List(t.Context(), nil)
		require.NoError(t, err)
		for _, s := range sessions {
			require.True(t, done[s.ID] || s.ID == begun, "%s was never begun", s.ID)
			got := files(t, filepath.Join(st.Dir(), s.ID))
			delete(got, "metadata.json")
			require.Equal(lost, want, got)
			md, err := st.Metadata(t.Context(), s.ID)
			require.NoError(lost, err)
			require.Equal(lost, s.ID, md.Text("session_id"))
			delete(done, s.ID)
			require.NoError(t, st.Delete(t.Context(), s.ID))
		}
		require.Empty(lost, done, "said to be there, and gone")
	}
	_, err := ReadDir(t.Context(), from, st, &ReadOptions{ID: "last"})
	require.NoError(t, err)
	got := files(t, filepath.Join(st.Dir(), "last"))
	delete(got, "metadata.json")
	require.Equal(t, want, got)
}
