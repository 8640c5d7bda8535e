package watch_test

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/store/watch"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// patience is how long a test waits for what should happen at once.
const patience = time.Minute

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

// notifierOf returns a Notifier of directories. A test that hangs with it ends with the stacks of
// all goroutines.
func notifierOf(t *testing.T, dirs ...string) *watch.Notifier {
	t.Helper()
	hangs := time.AfterFunc(5*patience, func() {
		debug.SetTraceback("all")
		panic(t.Name() + " hangs")
	})
	t.Cleanup(func() { hangs.Stop() })
	w, err := watch.NewNotifier()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	for _, dir := range dirs {
		require.NoError(t, w.Add(dir))
	}
	return w
}

// await receives events until one is of path.
func await(t *testing.T, w *watch.Notifier, path string) {
	t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case e := <-w.Events():
			if e.Path == path {
				return
			}
		case <-timeout:
			require.FailNow(t, "no event", path)
		}
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(dir string) error
		path   string // from the directory
	}{
		{"new file", func(dir string) error { return os.WriteFile(filepath.Join(dir, "new"), nil, 0o600) }, "new"},
		{"written in place", func(dir string) error { return os.Truncate(filepath.Join(dir, "old"), 10) }, "old"},
		{"removed", func(dir string) error { return os.Remove(filepath.Join(dir, "old")) }, "old"},
		{"renamed over", func(dir string) error {
			return os.Rename(filepath.Join(dir, "other"), filepath.Join(dir, "old"))
		}, "old"},
		{"directory removed", os.RemoveAll, ""},
		{"directory moved", func(dir string) error { return os.Rename(dir, dir+"2") }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "watched")
			require.NoError(t, os.Mkdir(dir, 0o700))
			write(t, filepath.Join(dir, "old"), "old")
			write(t, filepath.Join(dir, "other"), "other")
			w := notifierOf(t, dir)
			require.NoError(t, tt.change(dir))
			await(t, w, filepath.Join(dir, tt.path))
		})
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	one, two := t.TempDir(), t.TempDir()
	w := notifierOf(t, one, two)
	w.Remove(one)
	w.Remove(one)
	write(t, filepath.Join(one, "unheard"), "")
	write(t, filepath.Join(two, "heard"), "")
	require.Equal(t, filepath.Join(two, "heard"), (<-w.Events()).Path)
}

func TestMadeAnew(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "watched")
	require.NoError(t, os.Mkdir(dir, 0o700))
	w := notifierOf(t, dir)
	require.NoError(t, os.Remove(dir))
	require.Error(t, w.Add(dir), "not there")
	require.NoError(t, os.Mkdir(dir, 0o700))
	w.Remove(dir)
	require.NoError(t, w.Add(dir))
	write(t, filepath.Join(dir, "new"), "")
	await(t, w, filepath.Join(dir, "new"))
}

// TestMovedAndRemoved does what the removal of a session does, many times: no
// event counts as lost.
func TestMovedAndRemoved(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	w := notifierOf(t, top)
	for i := range 200 {
		dir := filepath.Join(top, strconv.Itoa(i))
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, w.Add(dir))
		require.NoError(t, os.Rename(dir, dir+".away"))
		require.NoError(t, os.Remove(dir+".away"))
	}
	write(t, filepath.Join(top, "end"), "")
	for e := range w.Events() {
		require.NotEmpty(t, e.Path)
		if e.Path == filepath.Join(top, "end") {
			break
		}
	}
}

func TestOverflow(t *testing.T) {
	t.Parallel()
	limit, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	require.NoError(t, err)
	queue, err := strconv.Atoi(string(limit[:len(limit)-1]))
	require.NoError(t, err)
	testenv.Need(t, queue <= 2_000_000, "the system's queue is too long to fill")
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write(t, a, "")
	w := notifierOf(t, dir)
	for range queue { // each rename is two events; nobody receives them
		require.NoError(t, os.Rename(a, b))
		a, b = b, a
	}
	await(t, w, "")
}

func TestClose(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := notifierOf(t, dir)
	write(t, filepath.Join(dir, "unheard"), "") // an event that nobody receives holds nothing up
	require.NoError(t, w.Close())
	require.NoError(t, w.Close())
	for range w.Events() {
	}
	require.Error(t, w.Add(dir))
	w.Remove(dir)
}
