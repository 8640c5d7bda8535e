package cli

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestNotesOfOneImport reads the notes of an import of two histories: they are one change, also
// with another change between them, and also before the import is done.
func TestNotesOfOneImport(t *testing.T) {
	t.Parallel()
	state, dir := t.TempDir(), filepath.Join(t.TempDir(), "p", "sessions")
	st, err := sessionstore.Open(dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	env := func(string) string { return state }
	a := &app{ctx: t.Context(), env: env, now: time.Now}
	said, err := sessionstore.Text("user", "?", time.Now())
	require.NoError(t, err)
	made := func(id string) noted {
		require.NoError(t, st.Append(t.Context(), id, said))
		return target{st, id}.noted()
	}
	ids := func() (all [][]string) {
		changes, err := a.changes([]*sessionstore.Store{st}, nil)
		require.NoError(t, err)
		for _, c := range changes {
			var of []string
			for _, s := range c.sessions {
				of = append(of, s.id)
			}
			all = append(all, of)
		}
		return all
	}
	require.Empty(t, ids())

	began := time.Now()
	require.NoError(t, keepNote(env, changeNote{began, "import", "claude", []noted{made("one")}}))
	require.Equal(t, [][]string{{"one"}}, ids())
	require.NoError(t, keepNote(env, changeNote{time.Now(), "fork", "", []noted{made("fork")}}))
	require.NoError(t, keepNote(env, changeNote{began, "import", "claude", []noted{made("two")}}))
	require.Equal(t, [][]string{{"fork"}, {"one", "two"}}, ids())

	require.NoError(t, os.RemoveAll(filepath.Join(dir, "two")))
	require.Equal(t, [][]string{{"fork"}, {"one"}}, ids(), "what is left can be taken back")
	require.NoError(t, keepNote(env, changeNote{At: time.Now(), Kind: "import"}))
	require.Len(t, ids(), 2, "no session, no change")
}
