package intake

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// takeForever brings the session's directory from into the store dir, as one
// session after the other.
func takeForever(dir, from string) error {
	st, err := sessionstore.Open(dir, &sessionstore.Options{Workspace: "/w", Durability: sessionstore.Relaxed})
	if err != nil {
		return err
	}
	for {
		id := sessionstore.NewID()
		fmt.Println("begin " + id)
		if _, err := Take(context.Background(), st, Directory(from), Options{ID: id}); err != nil {
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
	st := open(t, nil)
	want := files(t, from)
	delete(want, "metadata.json") // which has the id

	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for round := range testenv.KillRounds() {
		p := testenv.Spawn(t, "take", st.Dir(), from)
		begun, done := "", map[string]bool{}
		after := time.Duration(rng.IntN(20_000)) * time.Microsecond
		acknowledges := func(line string) bool { return strings.HasPrefix(line, "done ") }
		p.KillAmid(t, round, after, acknowledges, func(line string) {
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
			require.Equal(t, want, got)
			md, err := st.Metadata(t.Context(), s.ID)
			require.NoError(t, err)
			require.Equal(t, s.ID, md.Text("session_id"))
			delete(done, s.ID)
			require.NoError(t, st.Delete(t.Context(), s.ID))
		}
		require.Empty(t, done, "said to be there, and gone")
	}
	_, err := Take(t.Context(), st, Directory(from), Options{ID: "last"})
	require.NoError(t, err)
	got := files(t, filepath.Join(st.Dir(), "last"))
	delete(got, "metadata.json")
	require.Equal(t, want, got)
}
