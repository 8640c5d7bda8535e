package vfs

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// quick reads by both quick ways.
func quick(t *testing.T, b *Sessions, id, name string) (string, bool) {
	t.Helper()
	data, ok := b.ReadFast(id, name)
	s := openReader(t, b.path)
	room := make([]byte, 0, 100)
	other, err := s.ReadFast(id, name, room)
	if ok {
		require.NoError(t, err)
		require.Equal(t, string(other), string(data))
	}
	return string(data), ok
}

func TestReadFast(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(outside, []byte("secret"), 0o600))
	for _, way := range []string{"plain", "by a symlink"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			dir, err := filepath.EvalSymlinks(t.TempDir())
			require.NoError(t, err)
			if way != "plain" {
				link := filepath.Join(t.TempDir(), "link")
				require.NoError(t, os.Symlink(dir, link))
				dir = link
			}
			b := open(t, dir, nil)
			home := filepath.Join(dir, "s")
			require.NoError(t, os.MkdirAll(filepath.Join(home, "directory"), 0o700))
			large := strings.Repeat("0123456789abcdef", 2<<16)
			for _, size := range []int{1, 7, fastBuffer - 1, fastBuffer, fastBuffer + 1, 1<<20 - 1} {
				putFile(t, large[:size], home, "file")
				data, ok := quick(t, b, "s", "file")
				require.True(t, ok && data == large[:size], size)
			}
			putFile(t, large[:1<<20], home, "large")
			putFile(t, "", home, "empty")
			require.NoError(t, unix.Mkfifo(filepath.Join(home, "pipe"), 0o600))
			pipe, err := os.OpenFile(filepath.Join(home, "pipe"), os.O_RDWR, 0)
			require.NoError(t, err)
			defer pipe.Close()
			_, err = pipe.WriteString("for another")
			require.NoError(t, err)
			require.NoError(t, os.Symlink("file", filepath.Join(home, "link")))
			require.NoError(t, os.Symlink("s", filepath.Join(dir, "session")))
			require.NoError(t, os.Symlink(filepath.Dir(outside), filepath.Join(dir, "escape")))
			for _, path := range []string{
				"s/none", "none/file", "s/directory", "s/large", "s/empty", "s/link", "s/pipe", "s/file/file", "session/file", "escape/file", "../file",
			} {
				id, name := filepath.Split(path)
				_, ok := b.ReadFast(strings.TrimSuffix(id, "/"), name)
				require.False(t, ok, path)
			}

			got := make([]byte, 100)
			n, err := pipe.Read(got)
			require.NoError(t, err)
			require.Equal(t, "for another", string(got[:n]), "what was in the pipe")

			moved := dir + "-moved"
			require.NoError(t, os.Rename(dir, moved))
			_, ok := b.ReadFast("s", "file")
			require.False(t, ok)
			putFile(t, "new", dir, "s", "file")
			data, ok := quick(t, b, "s", "file")
			require.True(t, ok)
			require.Equal(t, "new", data)
		})
	}
}

func TestDirReadsFast(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	putFile(t, "out", dir, "out", "f")
	putFile(t, "in", dir, "in", "s", "f")
	require.NoError(t, os.Symlink("s", filepath.Join(dir, "in", "beside")))
	require.NoError(t, os.Symlink("../out", filepath.Join(dir, "in", "escape")))
	s := openReader(t, filepath.Join(dir, "in"))
	for _, id := range []string{"s", "beside"} {
		data, err := s.ReadFast(id, "f", nil)
		require.NoError(t, err)
		require.Equal(t, "in", string(data))
	}
	for _, id := range []string{"none", "s/f"} {
		_, err := s.ReadFast(id, "f", nil)
		require.ErrorIs(t, err, fs.ErrNotExist, id)
	}
	data, err := s.ReadFast("escape", "f", make([]byte, 0, 10))
	require.Error(t, err)
	require.NotErrorIs(t, err, fs.ErrNotExist)
	require.Empty(t, data)
}
