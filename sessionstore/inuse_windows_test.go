package sessionstore_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestReaderHoldsTheTranscript appends while a program has the transcript open
// that does not share its deletion, as Python's open and Go's os.Open do.
func TestReaderHoldsTheTranscript(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := open(t, dir, nil)
	for range 2 {
		require.NoError(t, st.Append(t.Context(), "s", parse(t, user("1"))...))
	}
	name, err := windows.UTF16PtrFromString(filepath.Join(dir, "s", transcriptFile))
	require.NoError(t, err)
	h, err := windows.CreateFile(name, windows.GENERIC_READ, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE, nil, windows.OPEN_EXISTING, 0, 0)
	require.NoError(t, err)
	closed := make(chan error, 1)
	go func() {
		time.Sleep(500 * time.Millisecond)
		closed <- windows.CloseHandle(h)
	}()
	start := time.Now()
	require.NoError(t, st.Append(t.Context(), "s", parse(t, user("2"))...))
	require.NoError(t, <-closed)
	require.GreaterOrEqual(t, time.Since(start), 300*time.Millisecond)

	h, err = windows.CreateFile(name, windows.GENERIC_READ, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE, nil, windows.OPEN_EXISTING, 0, 0)
	require.NoError(t, err)
	err = st.Append(t.Context(), "s", parse(t, user("3"))...)
	require.ErrorIs(t, err, vfs.ErrInUse)
	require.False(t, errors.Is(err, sessionstore.ErrCorrupt))
	require.NoError(t, windows.CloseHandle(h))
	require.NoError(t, st.Append(t.Context(), "s", parse(t, user("4"))...))
	s, err := st.Load(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, []string{user("1"), user("1"), user("2"), user("4")}, lines(s.Messages))
	entries, err := os.ReadDir(filepath.Join(dir, "s"))
	require.NoError(t, err)
	for _, e := range entries {
		require.NotEqual(t, ".", e.Name()[:1], e.Name())
	}
}
