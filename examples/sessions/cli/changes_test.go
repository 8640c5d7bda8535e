package cli

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/picker"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
	"github.com/amplifier-go/sessionstorage/slice"
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

// TestRenameInThePicker notes a rename of the picker: undo takes it back as that of a command.
func TestRenameInThePicker(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	p, err := projects.Open(t.TempDir(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Close()) }()
	st, err := p.Store("p")
	require.NoError(t, err)
	require.NoError(t, st.Create(t.Context(), "one", sessionstore.Metadata{}))
	a := &app{ctx: t.Context(), env: func(string) string { return state }, now: time.Now}
	key := picker.Key{Project: "p", ID: "one"}
	a.picked(p, picker.Renamed{Key: key, Name: "same"})
	changes, err := a.changes([]*sessionstore.Store{st}, nil)
	require.NoError(t, err)
	require.Empty(t, changes, "it wrote nothing")
	renamed, err := slice.RenameSession(t.Context(), st, "one", "another")
	require.NoError(t, err)
	a.picked(p, picker.Renamed{Key: key, Name: "another", Kept: renamed.BackupPath})
	changes, err = a.changes([]*sessionstore.Store{st}, nil)
	require.NoError(t, err)
	require.Len(t, changes, 1)
	require.Equal(t, "one", changes[0].sessions[0].id)
}
