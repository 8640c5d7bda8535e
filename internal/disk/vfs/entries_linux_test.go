package vfs

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
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".hidden"), 0o700))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	for i := range 600 {
		require.NoError(t, os.Mkdir(filepath.Join(dir, strings.Repeat("ä", 100)+strconv.Itoa(i)), 0o700))
	}
	f := mustOpen(t, dir)
	var got []Entry
	texts := 0
	require.NoError(t, readNames(f, func(text string) {
		got = append(got, choose(text, func(string) bool { return true })...)
		texts++
	}))
	require.Greater(t, texts, 1)
	_, err := f.Seek(0, 0)
	require.NoError(t, err)
	all, err := f.ReadDir(-1)
	require.NoError(t, err)
	var want []Entry
	for _, e := range all {
		is := map[fs.FileMode]kind{fs.ModeDir: directory, fs.ModeSymlink: symlink}[e.Type()]
		if is != 0 && e.Name() != ".hidden" {
			want = append(want, Entry{Name: e.Name(), kind: is})
			require.Equal(t, is, ask(f, e.Name()), e.Name())
		}
	}
	require.Equal(t, want, got)
	for _, name := range []string{"file", "pipe"} {
		require.Equal(t, other, ask(f, name), name)
	}
	require.Equal(t, unknown, ask(f, "none"))

	err = readNames(mustOpen(t, filepath.Join(dir, "file")), nil)
	require.ErrorIs(t, err, syscall.ENOTDIR)
}

func mustOpen(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}
