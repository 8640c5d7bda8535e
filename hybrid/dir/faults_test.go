package dir

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// before opens the remote of r once more, with what is called before each change.
func before(t *testing.T, r *Remote, do func(op seam.Op) error) *Remote {
	return reopened(t, r.Path(), &seam.Seam{Before: do})
}

// TestFailures lets one change of a file fail in a commit that stores an object, swaps the head and
// removes an object.
func TestFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at     func(op seam.Op) bool
		why    error
		want   error
		swaps  bool // the head is another one after it
		exists bool // what was to be removed is there
	}{
		"write of an object":    {func(op seam.Op) bool { return op.Kind == seam.Write && strings.HasPrefix(op.Name, ".o-") }, syscall.EIO, remote.ErrUnreachable, false, true},
		"no room":               {func(op seam.Op) bool { return op.Kind == seam.Write }, syscall.ENOSPC, remote.ErrBlocked, false, true},
		"name of an object":     {func(op seam.Op) bool { return op.Kind == seam.Rename }, syscall.EIO, remote.ErrUnreachable, false, true},
		"names of objects":      {func(op seam.Op) bool { return op.Kind == seam.SyncDir && filepath.Base(op.Dir) == "p-"+part }, syscall.EIO, remote.ErrUnreachable, false, true},
		"number of the head":    {func(op seam.Op) bool { return op.Kind == seam.Link }, syscall.EIO, remote.ErrUnknown, false, true},
		"number, made durable":  {func(op seam.Op) bool { return op.Kind == seam.SyncDir && filepath.Base(op.Dir) == "f-head" }, syscall.EIO, remote.ErrUnknown, true, true},
		"removal of an object":  {func(op seam.Op) bool { return op.Kind == seam.Remove && op.Name == "o-stray-0" }, syscall.EIO, nil, true, true},
		"removal of what waits": {func(op seam.Op) bool { return op.Kind == seam.Remove && strings.HasPrefix(op.Name, ".next") }, syscall.EIO, nil, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, fails := provisioned(t), false
			failing := before(t, r, func(op seam.Op) error {
				if fails && c.at(op) {
					return c.why
				}
				return nil
			})
			commit(t, failing, &remote.Swap{Object: object("head", "0")}, object("stray-0", ""))
			fails = true
			require.ErrorIs(t, turn(t.Context(), failing, 0), c.want)
			require.Equal(t, c.swaps, leads(t, r, name) == 1)
			_, err := r.Get(t.Context(), part, "stray-0", "")
			require.Equal(t, c.exists, err == nil)
		})
	}
}

// TestNoDelete lets a removal fail.
func TestNoDelete(t *testing.T) {
	t.Parallel()
	r := provisioned(t)
	commit(t, r, nil, object("a", "a"))
	failing := before(t, r, func(op seam.Op) error {
		if op.Kind == seam.Remove && op.Name == "o-a" {
			return syscall.EIO
		}
		return nil
	})
	require.ErrorIs(t, failing.Delete(t.Context(), part, []string{"a"}), remote.ErrUnreachable)
	require.Equal(t, "a", text(t, r, "a"))
}

// TestDeletePowerCut cuts the power of the file server after a removal. What was removed stays so.
func TestDeletePowerCut(t *testing.T) {
	t.Parallel()
	base := testenv.Scratch(t)
	place := filepath.Join(base, "remote")
	require.NoError(t, Provision(t.Context(), place))
	commit(t, reopened(t, place, nil), nil, object("a", "a"))
	recorder, err := crashsim.Record(base)
	require.NoError(t, err)
	r := reopened(t, place, &seam.Seam{After: recorder.After})
	require.NoError(t, r.Delete(t.Context(), part, []string{"a"}))
	recorder.Acknowledge()
	log, err := recorder.Log()
	require.NoError(t, err)
	for state, err := range (&crashsim.Crash{Log: log, Max: 50}).States(nil) {
		require.NoError(t, err)
		dir := filepath.Join(testenv.Scratch(t), "state")
		require.NoError(t, state.Materialise(dir))
		_, err := reopened(t, filepath.Join(dir, "remote"), nil).Get(t.Context(), part, "a", "")
		require.True(t, errors.Is(err, remote.ErrNotExist) || state.Acked == 0, state)
	}
}

// TestUnreadable puts a directory in the place of an object, and a link that leads nowhere in that
// of the highest number, as a directory shows that lags: neither is missing.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS != "windows", "symlinks need a right there")
	r := provisioned(t)
	commit(t, r, &remote.Swap{Object: object("head", "0")}, object("a", "a"))
	at := filepath.Join(r.Path(), "p-"+part)
	require.NoError(t, os.Mkdir(filepath.Join(at, "o-b"), 0o700))
	last := error(nil)
	for _, last = range r.List(t.Context(), part, remote.Query{}) {
	}
	require.ErrorIs(t, last, remote.ErrUnreachable)
	require.NoError(t, os.Symlink("nowhere", filepath.Join(at, "f-head", numbered(2))))
	_, err := r.Get(t.Context(), part, "head", "")
	require.ErrorIs(t, err, remote.ErrUnreachable)
}

// TestMadeBeside: another device makes a part, and a name in it, just before this one does.
func TestMadeBeside(t *testing.T) {
	t.Parallel()
	r := before(t, provisioned(t), func(op seam.Op) error {
		if op.Kind == seam.Mkdir {
			return os.Mkdir(filepath.Join(op.Dir, op.Name), 0o700)
		}
		return nil
	})
	require.NoError(t, turn(t.Context(), r, 0))
	require.Equal(t, 1, leads(t, r, "made beside"))
}

// TestServerClock is a file server whose clock is two hours ahead. The times are its own.
func TestServerClock(t *testing.T) {
	t.Parallel()
	ahead := time.Now().Add(2 * time.Hour)
	r := reopened(t, provisioned(t).Path(), &seam.Seam{After: func(op seam.Op) {
		if op.Kind == seam.Create || op.Kind == seam.Write {
			_ = os.Chtimes(filepath.Join(op.Dir, op.Name), ahead, ahead) // a name that is gone has none
		}
	}})
	told := func() time.Time {
		info, err := r.Info(t.Context())
		require.NoError(t, err)
		return info.Time.Round(time.Minute)
	}
	require.Equal(t, ahead.UTC().Round(time.Minute), told())
	ahead = ahead.Add(time.Hour)
	commit(t, r, nil, object("a", "a"))
	require.Equal(t, ahead.UTC().Round(time.Minute), told())
	ahead = ahead.Add(time.Hour)
	r.asked = r.asked.Add(-time.Minute) // as if it were that long ago
	require.Equal(t, ahead.UTC().Round(time.Minute), told())
}

// TestWaitedForNumber: a head was stored when it got its number, and not when it was written. A
// file system without links does not tell that time.
func TestWaitedForNumber(t *testing.T) {
	t.Parallel()
	old := time.Now().Add(-time.Hour)
	r := before(t, provisioned(t), func(op seam.Op) error {
		if op.Kind == seam.Link {
			return os.Chtimes(filepath.Join(op.Dir, op.Name), old, old)
		}
		return nil
	})
	commit(t, r, &remote.Swap{Object: object("head", "0")})
	listed := func(since time.Time) (n int) {
		for _, err := range r.List(t.Context(), part, remote.Query{Since: since}) {
			require.NoError(t, err)
			n++
		}
		return n
	}
	require.Equal(t, 1, listed(old.Add(time.Minute)))
	r.links = false
	commit(t, r, nil, object("a", "a"))
	require.NoError(t, os.Chtimes(filepath.Join(r.Path(), "p-"+part, "f-head"), old, old))
	require.NoError(t, os.Chtimes(filepath.Join(r.Path(), "p-"+part, "f-head", numbered(1)), old, old.Add(30*time.Minute)))
	require.Equal(t, 2, listed(old.Add(time.Minute)))
	require.Equal(t, 1, listed(old.Add(40*time.Minute)))
}

// TestLongWrite writes an object anew that waited for its name: its time is when it is there. It
// does so for an hour: later, another device may have removed the object.
func TestLongWrite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		place, named, waits := filepath.Join(t.TempDir(), "remote"), 0, longWrite
		require.NoError(t, Provision(t.Context(), place))
		r := reopened(t, place, &seam.Seam{Before: func(op seam.Op) error {
			if op.Kind == seam.Rename {
				if named++; named == 1 {
					time.Sleep(waits)
				}
			}
			return nil
		}})
		commit(t, r, nil, object("a", "a"))
		require.Equal(t, 2, named)
		named, waits = 0, 70*time.Minute
		_, err := r.Commit(t.Context(), part, []remote.Object{object("b", "b")}, nil)
		require.ErrorIs(t, err, remote.ErrUnreachable)
		require.Equal(t, 1, named)
	})
}
