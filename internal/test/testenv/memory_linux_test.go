package testenv

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestInMemory is not parallel: it moves the temporary files for a moment.
func TestInMemory(t *testing.T) {
	dir := t.TempDir() // before
	abandoned, err := os.MkdirTemp(memory, memoryPrefix+"2147483647-")
	Need(t, err == nil, "there is no "+memory)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(abandoned)) })
	long := time.Now().Add(-2 * time.Hour)
	require.NoError(t, os.Chtimes(abandoned, long, long))
	t.Setenv("TEST_LONG", "")
	t.Setenv("TMPDIR", dir)
	InMemory()
	require.Equal(t, dir, os.TempDir(), "a chosen place stays")

	t.Setenv("TMPDIR", "")
	InMemory()
	Need(t, temporary != "", memory+" has no room")
	defer func() {
		require.NoError(t, os.RemoveAll(temporary))
		temporary = ""
	}()
	require.Equal(t, temporary, os.TempDir())
	require.Equal(t, memory, filepath.Dir(temporary))
	require.True(t, strings.HasPrefix(filepath.Base(temporary), memoryPrefix))
	require.DirExists(t, temporary)
	require.NoDirExists(t, abandoned)

	t.Setenv("TMPDIR", "")
	t.Setenv("TEST_LONG", "1")
	InMemory()
	if !testing.Short() {
		require.Empty(t, os.Getenv("TMPDIR"), "the soak is on the disk")
	}
}
