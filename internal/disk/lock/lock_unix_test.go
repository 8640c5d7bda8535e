//go:build unix

package lock_test

import (
	"io/fs"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
)

// Not parallel: the umask belongs to the process.
func TestModeOfNewFile(t *testing.T) {
	old := syscall.Umask(0o022)
	defer syscall.Umask(old)
	root := openRoot(t)
	for file, perm := range map[string]fs.FileMode{"a": 0o600, "b": 0o666} {
		held, err := lock.Try(root, file, perm)
		require.NoError(t, err)
		require.NoError(t, held.Unlock())
		info, err := root.Lstat(file)
		require.NoError(t, err)
		require.Equal(t, perm&^0o022, info.Mode(), file)
	}
	held, err := lock.Acquire(t.Context(), root, "c", lock.Options{})
	require.NoError(t, err)
	require.NoError(t, held.Unlock())
	info, err := root.Lstat("c")
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode())
}

func TestRefusesPipe(t *testing.T) {
	t.Parallel()
	root := openRoot(t)
	require.NoError(t, syscall.Mkfifo(root.Name()+"/pipe", 0o600))
	done := make(chan error, 1)
	go func() {
		_, err := lock.Try(root, "pipe", 0o600)
		done <- err
	}()
	select {
	case err := <-done:
		require.EqualError(t, err, `lock "pipe": not a regular file`)
	case <-time.After(time.Minute):
		t.Fatal("opening a pipe waits")
	}
}
