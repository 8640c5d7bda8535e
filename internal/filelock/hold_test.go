//go:build unix

package filelock

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
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
			var k Keep
			require.NoError(t, k.open(root, name, 0o600))
			defer k.Close()
			require.NoError(t, tt.after(root))
			got, err := k.hold(root, name)
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
	lock, err := Try(root, "x.lock", 0o600)
	require.NoError(t, err)
	var copied int
	require.NoError(t, control(lock.file, func(fd uintptr) (err error) {
		copied, err = syscall.Dup(int(fd))
		return err
	}))
	defer syscall.Close(copied)
	require.NoError(t, lock.Unlock())
	lock, err = Try(root, "x.lock", 0o600)
	require.NoError(t, err)
	require.NoError(t, lock.Unlock())
}

// A kept file that lost its name is given up for the one that has it.
func TestKeepFollowsTheName(t *testing.T) {
	t.Parallel()
	root, err := os.OpenRoot(t.TempDir())
	require.NoError(t, err)
	defer root.Close()
	var k Keep
	defer k.Close()
	take := func() *Lock {
		lock, err := Acquire(t.Context(), root, "x.lock", Options{Keep: &k})
		require.NoError(t, err)
		return lock
	}
	require.NoError(t, take().Unlock())
	kept := k.file
	require.NotNil(t, kept)
	lock := take()
	require.Same(t, kept, k.file)
	_, err = Try(root, "x.lock", 0o600)
	require.ErrorIs(t, err, ErrBusy)
	require.NoError(t, lock.Unlock())

	require.NoError(t, root.Remove("x.lock"))
	lock = take()
	require.NotSame(t, kept, k.file)
	_, err = Try(root, "x.lock", 0o600)
	require.ErrorIs(t, err, ErrBusy)
	require.NoError(t, lock.Unlock())
	require.NoError(t, lock.Unlock())

	other, err := Try(root, "x.lock", 0o600)
	require.NoError(t, err)
	_, err = Options{Keep: &k, Limit: 1}.acquire(t.Context(), root, "x.lock")
	require.ErrorIs(t, err, ErrBusy)
	require.NoError(t, root.Rename("x.lock", "moved"))
	require.NoError(t, take().Unlock(), "busy is the file that has the name, no other")
	require.NoError(t, other.Unlock())
	require.NoError(t, take().Unlock())
}
