//go:build unix

package lock

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// A process may meet the lock file just before it is removed or replaced.
func TestHoldWhatHasNoNameAnyMore(t *testing.T) {
	t.Parallel()
	const name = "x.lock"
	tests := []struct {
		name  string
		after func(root *os.Root) error
		want  bool
	}{
		{"still there", func(*os.Root) error { return nil }, true},
		{"removed", func(root *os.Root) error { return root.Remove(name) }, false},
		{"replaced", func(root *os.Root) error { return root.Rename("other", name) }, false},
		{"renamed, symlink instead", func(root *os.Root) error {
			if err := root.Rename(name, "moved"); err != nil {
				return err
			}
			return root.Symlink("moved", name)
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root, err := os.OpenRoot(t.TempDir())
			require.NoError(t, err)
			defer root.Close()
			require.NoError(t, root.WriteFile("other", nil, 0o600))
			file, err := openFile(root, nil, name, 0o600)
			require.NoError(t, err)
			is, err := file.Stat()
			require.NoError(t, err)
			l := &Lock{file: file, is: is}
			defer l.file.Close()
			require.NoError(t, tt.after(root))
			got, err := l.hold(root, name, false)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

// A child between fork and exec has a copy of every descriptor.
func TestUnlockWhileTheDescriptorIsCopied(t *testing.T) {
	t.Parallel()
	root, err := os.OpenRoot(t.TempDir())
	require.NoError(t, err)
	defer root.Close()
	held, err := Try(root, "x.lock", 0o600)
	require.NoError(t, err)
	var copied int
	require.NoError(t, vfs.OnFd(held.file, func(fd int) (err error) {
		copied, err = syscall.Dup(fd)
		return err
	}))
	defer syscall.Close(copied)
	require.NoError(t, held.Unlock())
	held, err = Try(root, "x.lock", 0o600)
	require.NoError(t, err)
	require.NoError(t, held.Unlock())
}

// A lock is that of the file that has the name by now, and so is a busy one.
func TestLockFollowsTheName(t *testing.T) {
	t.Parallel()
	root, err := os.OpenRoot(t.TempDir())
	require.NoError(t, err)
	defer root.Close()
	take := func() *Lock {
		held, err := Try(root, "x.lock", 0o600)
		require.NoError(t, err)
		return held
	}
	require.NoError(t, take().Unlock())
	held := take()
	_, err = Try(root, "x.lock", 0o600)
	require.ErrorIs(t, err, ErrBusy)
	require.NoError(t, root.Remove("x.lock"))
	other := take()
	_, err = Try(root, "x.lock", 0o600)
	require.ErrorIs(t, err, ErrBusy)
	require.NoError(t, held.Unlock())
	_, err = Acquire(t.Context(), root, "x.lock", Options{Limit: 1})
	require.ErrorIs(t, err, ErrBusy, "the lock of the former file was given up")

	require.NoError(t, root.Rename("x.lock", "moved"))
	require.NoError(t, take().Unlock(), "busy is the file that has the name, no other")
	require.NoError(t, other.Unlock())
	require.NoError(t, other.Unlock())
	require.NoError(t, take().Unlock())
}
