package vfs

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func openReader(t *testing.T, dir string) *Reader {
	t.Helper()
	s, err := OpenReader(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long := strings.Repeat("0123456789", 20_000)
	putFile(t, long, dir, "b", "f")
	putFile(t, "", dir, ".a", "f")
	putFile(t, "x", dir, "file")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "c", "f"), 0o700))
	s := openReader(t, dir)
	names, err := s.Names()
	require.NoError(t, err)
	require.Equal(t, []string{".a", "b", "c", "file"}, names)
	require.Equal(t, filepath.Join(dir, "b", "f"), s.Path("b", "f"))

	for id, want := range map[string]string{"b": long, ".a": ""} {
		f, err := s.Open(id, "f")
		require.NoError(t, err)
		n, err := f.Read(nil)
		require.NoError(t, err)
		require.Zero(t, n)
		got, err := io.ReadAll(f)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
		require.NoError(t, f.Close())
		require.True(t, s.Has(id, "f"))
		require.False(t, s.Has(id, "g"))
	}
	for _, id := range []string{"none", "file", "c/.."} {
		_, err = s.Open(id, "g")
		require.ErrorIs(t, err, fs.ErrNotExist, id)
	}
	_, err = s.Open("c", "f")
	require.ErrorIs(t, err, ErrNotRegular)
	_, err = OpenReader(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = OpenReader(filepath.Join(dir, "file"))
	require.Error(t, err)
}

// TestDirReadsWhatGrows reads a file that is longer than when it was opened.
func TestDirReadsWhatGrows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	putFile(t, "ab", dir, "s", "f")
	f, err := openReader(t, dir).Open("s", "f")
	require.NoError(t, err)
	putFile(t, "abcd", dir, "s", "f")
	buf := make([]byte, 3)
	n, err := f.Read(buf)
	require.NoError(t, err)
	require.Equal(t, "abc", string(buf[:n]))
	rest, err := io.ReadAll(f)
	require.NoError(t, err)
	require.Equal(t, "d", string(rest))
	require.NoError(t, f.Close())
}

func TestDirIsConfined(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("symlinks need a privilege")
	}
	dir := t.TempDir()
	putFile(t, "in", dir, "in", "s", "f")
	putFile(t, "out", dir, "out", "f")
	link := func(to, name string) { require.NoError(t, os.Symlink(to, filepath.Join(dir, "in", name))) }
	link("s", "beside")
	link(filepath.Join(dir, "out"), "absolute")
	link("../out", "relative")
	link("nowhere", "broken")
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "in", "s", "g")))
	s := openReader(t, filepath.Join(dir, "in"))
	f, err := s.Open("beside", "f")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	for _, id := range []string{"absolute", "relative"} {
		_, err := s.Open(id, "f")
		require.ErrorContains(t, err, "escapes", id)
	}
	_, err = s.Open("broken", "f")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.True(t, s.Has("s", "g"), "a symlink that leads nowhere")
	require.False(t, s.Has("broken", "f"))
}
