package sessiondir

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
)

// stage returns a new sessions directory, and its path.
func stage(t *testing.T, hooks *seam.Seam) (b *Base, path string) {
	t.Helper()
	path = t.TempDir()
	return at(t, path, hooks), path
}

// at returns the sessions directory path.
func at(t *testing.T, path string, hooks *seam.Seam) *Base {
	t.Helper()
	b, err := Open(path, hooks)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// begin begins session id and returns the path of its staging directory.
func begin(t *testing.T, s *Base, top, id string) (*staged, string) {
	t.Helper()
	d, root, err := s.begin(id)
	require.NoError(t, err)
	require.NoError(t, root.Close())
	return d, filepath.Join(top, d.path)
}

// TestNameAtOnce builds two sessions of one name. The first to be published has it.
func TestNameAtOnce(t *testing.T) {
	t.Parallel()
	s, top := stage(t, nil)
	first, path := begin(t, s, top, "s")
	put(t, "first", path, "f")
	second, path := begin(t, s, top, "s")
	put(t, "second", path, "f")
	require.NoDirExists(t, filepath.Join(top, "s"), "it is not there before it is whole")
	require.NoError(t, s.publish(first, true))
	require.NoError(t, s.discard(first), "what is published stays")
	require.ErrorIs(t, s.publish(second, true), fs.ErrExist)
	require.NoError(t, s.discard(second))
	require.Equal(t, map[string]string{"f": "first"}, content(t, filepath.Join(top, "s")))
	require.Empty(t, content(t, filepath.Join(top, Bookkeeping, stagingDir)))
	_, _, err := s.begin("s")
	require.ErrorIs(t, err, fs.ErrExist, "its caller looks for the session before")
}

// TestBeginLeavesNothing lets each step of a beginning fail.
func TestBeginLeavesNothing(t *testing.T) {
	t.Parallel()
	for at := 0; ; at++ {
		failer := &crashsim.Failer{At: at, Err: syscall.EIO}
		s, top := stage(t, &seam.Seam{Before: failer.Before})
		_, root, err := s.begin("s")
		if _, failed := failer.Failed(); !failed {
			require.NoError(t, err)
			require.NoError(t, root.Close())
			require.Equal(t, 3, at, "steps")
			break
		}
		require.ErrorIs(t, err, syscall.EIO)
		require.NoDirExists(t, filepath.Join(top, "s"))
		if left := filepath.Join(top, Bookkeeping, stagingDir); at > 1 {
			require.Empty(t, content(t, left))
		}
	}
	var s *Base
	var top string
	s, top = stage(t, &seam.Seam{After: func(op seam.Op) {
		if path := filepath.Join(op.Dir, op.Name); op.Kind == seam.Mkdir && filepath.Base(filepath.Dir(path)) == stagingDir {
			require.NoError(t, os.Remove(path))
			put(t, "no directory", path)
		}
	}})
	_, _, err := s.begin("s")
	require.Error(t, err, "the staging directory cannot be opened")
	require.Empty(t, content(t, filepath.Join(top, Bookkeeping, stagingDir)))
}

// TestLeftoversAreSwept removes what killed processes left, when it is old.
func TestLeftoversAreSwept(t *testing.T) {
	t.Parallel()
	s, top := stage(t, nil)
	dir := filepath.Join(top, Bookkeeping, stagingDir)
	old, young := newName(time.Now().Add(-25*time.Hour)), newName(time.Now().Add(-23*time.Hour))
	for name, age := range map[string]time.Duration{"old": 25 * time.Hour, "young": time.Hour, old: time.Hour, young: 25 * time.Hour} {
		put(t, "1", dir, name, "f")
		at := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), at, at))
	}
	d, _ := begin(t, s, top, "s")
	require.NoError(t, s.publish(d, false))
	require.Equal(t, map[string]string{"young": "directory", young: "directory"}, content(t, dir))
}

// TestYoungIsNotSwept: a session that another process builds has the time of
// its last change, which may be long past, before it is published.
func TestYoungIsNotSwept(t *testing.T) {
	t.Parallel()
	one, top := stage(t, nil)
	two := at(t, top, nil)
	d, path := begin(t, one, top, "s")
	put(t, "1", path, "f")
	long := time.Now().AddDate(-1, 0, 0)
	require.NoError(t, os.Chtimes(path, long, long))
	other, _ := begin(t, two, top, "other")
	require.NoError(t, two.publish(other, false))
	require.NoError(t, one.publish(d, false))
	require.Equal(t, map[string]string{"f": "1"}, content(t, filepath.Join(top, "s")))
}
