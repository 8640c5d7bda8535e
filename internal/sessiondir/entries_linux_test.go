package sessiondir

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// The names are those that the standard library finds, in its order, also
// where they need more than one call.
func TestReadNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	require.NoError(t, os.Symlink("file", filepath.Join(dir, "symlink")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	for i := range 600 {
		require.NoError(t, os.Mkdir(filepath.Join(dir, strings.Repeat("ä", 100)+strconv.Itoa(i)), 0o700))
	}
	f := mustOpen(t, dir)
	got, err := readNames(f, func(name string, _ fs.FileMode) bool { return name != "." && name != ".." })
	require.NoError(t, err)
	_, err = f.Seek(0, 0)
	require.NoError(t, err)
	want, err := f.ReadDir(-1)
	require.NoError(t, err)
	require.Len(t, got, len(want))
	for i, e := range want {
		require.Equal(t, e.Name(), got[i].name)
		require.Equal(t, mayBeDir(e.Type()), mayBeDir(got[i].kind), e.Name())
		require.Equal(t, e.Type()&fs.ModeSymlink, got[i].kind&fs.ModeSymlink, e.Name())
		require.Equal(t, kindOf(ask(f, e.Name())), got[i].kind, e.Name())
	}
	require.Equal(t, fs.ModeIrregular, kindOf(ask(f, "none")))

	_, err = readNames(mustOpen(t, filepath.Join(dir, "file")), nil)
	require.ErrorIs(t, err, syscall.ENOTDIR)
}

func mustOpen(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}
