package lock_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

const name = "x.lock"

func openRoot(t *testing.T) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func TestExcludesWithinOneProcess(t *testing.T) {
	t.Parallel()
	root := openRoot(t)
	held, err := lock.Try(root, name, 0o600)
	require.NoError(t, err)
	_, err = lock.Try(root, name, 0o600)
	require.ErrorIs(t, err, lock.ErrBusy)
	require.EqualError(t, err, `lock "x.lock": lock is held elsewhere`)

	require.NoError(t, held.Unlock())
	require.NoError(t, held.Unlock(), "twice is fine")
	held, err = lock.Try(root, name, 0o600)
	require.NoError(t, err)
	require.NoError(t, held.Unlock())
	info, err := root.Lstat(name)
	require.NoError(t, err, "the file stays")
	require.Zero(t, info.Size())
}

func TestGoroutinesTakeTurns(t *testing.T) {
	t.Parallel()
	root := openRoot(t)
	var inside, turns atomic.Int32 // the race detector cannot see the lock
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				held, err := lock.Acquire(t.Context(), root, name, lock.Options{Limit: time.Minute})
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d holders at once", n)
				}
				turns.Add(1)
				inside.Add(-1)
				if err := held.Unlock(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 40, turns.Load())
}

func TestAcquireWaits(t *testing.T) {
	t.Parallel()
	root := openRoot(t)
	held, err := lock.Try(root, name, 0o600)
	require.NoError(t, err)

	_, err = lock.Acquire(t.Context(), root, name, lock.Options{Limit: 20 * time.Millisecond})
	require.ErrorIs(t, err, lock.ErrBusy)
	require.NotErrorIs(t, err, context.DeadlineExceeded)

	_, err = lock.Acquire(endingSoon(t.Context()), root, name, lock.Options{})
	require.ErrorIs(t, err, lock.ErrBusy)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	first := held
	time.AfterFunc(20*time.Millisecond, func() { _ = first.Unlock() })
	held, err = lock.Acquire(t.Context(), root, name, lock.Options{})
	require.NoError(t, err)
	require.NoError(t, held.Unlock())
}

// ending is a context that ends soon, but not before it was looked at.
type ending struct {
	context.Context
	done   chan struct{}
	looked bool
}

func endingSoon(ctx context.Context) *ending {
	c := &ending{Context: ctx, done: make(chan struct{})}
	time.AfterFunc(20*time.Millisecond, func() { close(c.done) })
	return c
}

func (c *ending) Done() <-chan struct{} { return c.done }

func (c *ending) Err() error {
	if !c.looked {
		c.looked = true
		return nil
	}
	<-c.done
	return context.DeadlineExceeded
}

func TestAcquireLooksAtContextFirst(t *testing.T) {
	t.Parallel()
	root := openRoot(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := lock.Acquire(ctx, root, name, lock.Options{})
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, lock.ErrBusy)
	_, err = root.Lstat(name)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestRefusesWhatIsNoLockFile(t *testing.T) {
	t.Parallel()
	root := openRoot(t)
	require.NoError(t, root.Mkdir("dir", 0o700))
	require.NoError(t, root.WriteFile("file", nil, 0o600))
	for _, bad := range []string{"dir", "", ".", "..", "../x", "a/b", "/x", "missing/x"} {
		_, err := lock.Try(root, bad, 0o600)
		require.Error(t, err, bad)
		require.NotErrorIs(t, err, lock.ErrBusy, bad)
	}
	if err := root.Symlink("file", "link"); err != nil {
		t.Logf("no symlinks here: %v", err)
		return
	}
	require.NoError(t, root.Symlink("target", "dangling"))
	for _, link := range []string{"link", "dangling"} {
		_, err := lock.Try(root, link, 0o600)
		require.Error(t, err, link)
		require.NotErrorIs(t, err, lock.ErrBusy, link)
	}
	_, err := root.Lstat("target")
	require.ErrorIs(t, err, fs.ErrNotExist, "nothing was made through a symlink")
}

func TestAnotherProcess(t *testing.T) {
	t.Parallel()
	root := openRoot(t)
	holder := testenv.Spawn(t, "holds", root.Name(), "")
	require.Equal(t, "locked", holder.Hear(t))
	_, err := lock.Try(root, name, 0o600)
	require.ErrorIs(t, err, lock.ErrBusy)

	require.Equal(t, []string{`lock "x.lock": lock is held elsewhere`}, testenv.Spawn(t, "holds", root.Name(), "").End(t))

	holder.Kill()
	held, err := lock.Acquire(t.Context(), root, name, lock.Options{})
	require.NoError(t, err, "the kernel frees the lock of a killed process")
	require.NoError(t, held.Unlock())
}

// Some versions of the filelock package remove the file that they hold
// before they drop the lock.
func TestFileRemovedByHolder(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Log("an open file cannot be removed there")
		return
	}
	root := openRoot(t)
	held, err := lock.Try(root, name, 0o600)
	require.NoError(t, err)
	got := make(chan error, 1)
	go func() {
		held, err := lock.Acquire(t.Context(), root, name, lock.Options{})
		if err == nil {
			_, second := lock.Try(root, name, 0o600)
			err = held.Unlock()
			if !errors.Is(second, lock.ErrBusy) {
				err = errors.New("the lock that was got excludes nobody")
			}
		}
		got <- err
	}()
	time.Sleep(10 * time.Millisecond) // let it wait; the outcome is the same if it did not
	require.NoError(t, root.Remove(name))
	require.NoError(t, held.Unlock())
	require.NoError(t, <-got)
	_, err = root.Lstat(name)
	require.NoError(t, err)
}

func TestPythonHolds(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Log("no fcntl there")
		return
	}
	root := openRoot(t)
	path := filepath.Join(root.Name(), name)
	holder := testenv.HoldInPython(t, path)
	require.Equal(t, "locked", holder.Hear(t))
	_, err := lock.Try(root, name, 0o600)
	require.ErrorIs(t, err, lock.ErrBusy)
	holder.End(t)
	held, err := lock.Try(root, name, 0o600)
	require.NoError(t, err)

	require.Equal(t, []string{"busy"}, testenv.HoldInPython(t, path).End(t))
	require.NoError(t, held.Unlock())
	require.Equal(t, "locked", testenv.HoldInPython(t, path).Hear(t))
}
