package core_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestEpoch: the number of a transcript stays while this store appends, and changes with every
// other change, whoever makes it.
func TestEpoch(t *testing.T) {
	t.Parallel()
	open := func(dir string) *sessionstore.Store {
		st, err := sessionstore.Open(dir, nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, st.Close()) })
		return st
	}
	st := open(t.TempDir())
	epoch := func() uint64 {
		is, _, err := core.Of(st).Stat("s", sessiondir.Transcript)
		require.NoError(t, err)
		return core.Of(st).Epoch("s", is)
	}
	say := func(st *sessionstore.Store, text string) {
		m, err := sessionstore.Text("user", text, time.Unix(0, 0))
		require.NoError(t, err)
		require.NoError(t, st.Append(t.Context(), "s", m))
	}
	rows := func() (*sessionstore.Session, []sessionstore.Message) {
		s, err := st.Load(t.Context(), "s")
		require.NoError(t, err)
		return s, s.Messages
	}
	require.Zero(t, core.Of(st).Epoch("s", sessiondir.Stamp{}))
	say(st, "one")
	first := epoch()
	require.NotZero(t, first)
	say(st, "two")
	say(st, "three")
	require.Equal(t, first, epoch())
	s, all := rows()
	more, err := sessionstore.Text("user", "four", time.Unix(0, 0))
	require.NoError(t, err)
	_, err = st.Replace(t.Context(), "s", s.Revision, append(all, more))
	require.NoError(t, err)
	saved := epoch()

	path := filepath.Join(st.Dir(), "s", sessiondir.Transcript)
	for name, change := range map[string]func(){
		"rewritten here": func() {
			s, all := rows()
			_, err := st.Replace(t.Context(), "s", s.Revision, all[1:])
			require.NoError(t, err)
		},
		"appended to by another store": func() { say(open(st.Dir()), "other") },
		"edited in place": func() {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			require.NoError(t, err)
			_, err = f.WriteAt([]byte("{ "), 0)
			require.NoError(t, err)
			require.NoError(t, f.Close())
		},
		"replaced": func() {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path+".new", data, 0o600))
			require.NoError(t, os.Rename(path+".new", path))
		},
	} {
		say(st, "before")
		before := epoch()
		require.NotZero(t, before, name)
		change()
		say(st, "after")
		require.NotEqual(t, before, epoch(), name)
		require.NotEqual(t, saved, epoch(), name)
	}
}
