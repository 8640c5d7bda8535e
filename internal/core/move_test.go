package core_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestSendAndFetch(t *testing.T) {
	t.Parallel()
	var changes []sessionstore.Change
	st, err := sessionstore.Open(t.TempDir(), &sessionstore.Options{OnChange: func(c sessionstore.Change) { changes = append(changes, c) }})
	require.NoError(t, err)
	defer st.Close()
	store := core.Of(st)
	m, err := sessionstore.Text("user", "hi", time.Unix(0, 0))
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), "a", m))
	dir, err := store.Trash()
	require.NoError(t, err)
	defer dir.Close()
	require.NoError(t, store.Busy(t.Context(), "a"))
	changes = nil

	require.NoError(t, store.Send(t.Context(), "a", sessiondir.Trash))
	require.NoError(t, store.SyncDirs(sessiondir.Trash, "."))
	require.False(t, st.Exists("a"))
	require.ErrorIs(t, store.Send(t.Context(), "a", sessiondir.Trash), sessionstore.ErrNotFound)
	require.ErrorIs(t, store.Busy(t.Context(), "a"), sessionstore.ErrNotFound)
	_, err = st.Load(t.Context(), "a")
	require.ErrorIs(t, err, sessionstore.ErrNotFound)

	require.NoError(t, store.Fetch(t.Context(), "a", sessiondir.Trash))
	require.NoError(t, store.SyncDirs(".", sessiondir.Trash))
	s, err := st.Load(t.Context(), "a")
	require.NoError(t, err)
	require.Len(t, s.Messages, 1)
	require.NoError(t, st.Append(t.Context(), "a", m))
	require.Equal(t, []sessionstore.Change{
		{ID: "a", Op: sessionstore.Removed}, {ID: "a"}, {ID: "a", File: "transcript.jsonl"}, {ID: "a", File: "metadata.json"},
	}, changes)

	require.NoError(t, store.Send(t.Context(), "a", sessiondir.Trash))
	require.NoError(t, store.Destroy(t.Context(), filepath.Join(sessiondir.Trash, "a")))
	require.ErrorIs(t, store.Fetch(t.Context(), "a", sessiondir.Trash), sessionstore.ErrNotFound)
	require.ErrorIs(t, store.Busy(t.Context(), ".trash"), sessionstore.ErrInvalidID)
}

func TestSendTakesNothingThatRuns(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.SkipNow() // there are no ownership locks
	}
	dir, workspace := t.TempDir(), t.TempDir()
	open := func() *sessionstore.Store {
		st, err := sessionstore.Open(dir, &sessionstore.Options{Workspace: workspace})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, st.Close()) })
		return st
	}
	host, other := open(), open()
	id := sessionstore.NewID()
	hold, err := host.Acquire(t.Context(), id, sessionstore.Owner{App: "test"})
	require.NoError(t, err)
	m, err := sessionstore.Text("user", "hi", time.Unix(0, 0))
	require.NoError(t, err)
	require.NoError(t, host.Append(t.Context(), id, m))
	bin, err := core.Of(other).Trash()
	require.NoError(t, err)
	defer bin.Close()
	require.ErrorIs(t, core.Of(other).Busy(t.Context(), id), sessionstore.ErrLocked)
	require.ErrorIs(t, core.Of(other).Send(t.Context(), id, sessiondir.Trash), sessionstore.ErrLocked)
	require.True(t, host.Exists(id))
	require.NoError(t, hold.Release())
	require.NoError(t, core.Of(other).Busy(t.Context(), id))
	require.NoError(t, os.WriteFile(filepath.Join(dir, id, "transfer-fence.json"), nil, 0o600))
	require.ErrorIs(t, core.Of(other).Busy(t.Context(), id), sessionstore.ErrFenced)
	require.ErrorIs(t, core.Of(other).Send(t.Context(), id, sessiondir.Trash), sessionstore.ErrFenced)
	require.NoError(t, os.Remove(filepath.Join(dir, id, "transfer-fence.json")))
	require.NoError(t, core.Of(other).Send(t.Context(), id, sessiondir.Trash))
}
