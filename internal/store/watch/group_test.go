package watch

import (
	"io/fs"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

func openBase(t *testing.T) *sessiondir.Base {
	t.Helper()
	base, err := sessiondir.Open(filepath.Join(t.TempDir(), "sessions"), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, base.Close()) })
	return base
}

// TestLostEvents: where the system dropped events, everything may have changed.
func TestLostEvents(t *testing.T) {
	t.Parallel()
	w, p := prepare(t.Context(), openBase(t), slog.New(slog.DiscardHandler), nil)
	newLoop(p).onEvent(Event{})
	require.True(t, w.Waits(Change{Op: Rescan}))
	c, ok := w.Next()
	require.True(t, ok)
	require.Equal(t, Change{Op: Rescan}, c)
	require.NoError(t, w.abandon(p, nil))
}

// TestClosedGroup starts no watcher, and leaves nothing behind.
func TestClosedGroup(t *testing.T) {
	t.Parallel()
	base := openBase(t)
	var g Group
	w, err := g.Start(t.Context(), base, slog.New(slog.DiscardHandler), nil)
	require.NoError(t, err)
	require.Equal(t, 1, g.Len())
	require.NoError(t, g.Close())
	require.Zero(t, g.Len())
	require.NoError(t, w.Close())
	_, ok := w.Next()
	require.False(t, ok)
	_, err = g.Start(t.Context(), base, slog.New(slog.DiscardHandler), nil)
	require.ErrorIs(t, err, fs.ErrClosed)
	require.NoError(t, g.Close())
}
