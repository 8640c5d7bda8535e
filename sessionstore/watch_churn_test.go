package sessionstore

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/store/watch"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// view is what a consumer knows of a directory: the content of the watched
// files by their path, read whenever a change is told.
type view struct {
	dir string

	mu       sync.Mutex // guards what follows
	files    map[string]string
	told     map[string]bool // ids
	rescans  int
	followed sync.WaitGroup
}

func newView(st *Store) *view {
	return &view{dir: st.Dir(), files: readSessions(st.Dir()), told: map[string]bool{}}
}

// readSessions reads every watched file.
func readSessions(dir string) map[string]string {
	files := map[string]string{}
	for _, name := range watch.Files {
		paths, _ := filepath.Glob(filepath.Join(dir, "*", name))
		for _, path := range paths {
			if data, err := os.ReadFile(path); err == nil {
				files[path] = string(data)
			}
		}
	}
	return files
}

// follow takes changes in the background until w is closed, in no hurry.
func (v *view) follow(w *Watcher) {
	v.followed.Go(func() {
		n := 0
		for c := range w.Changes() {
			v.see(c)
			if n++; n%100 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
	})
}

func (v *view) see(c Change) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.told[c.ID] = true
	switch {
	case c.Op == Rescan:
		v.rescans++
		v.files = readSessions(v.dir)
	case c.File == "" && c.Op == Removed:
		for _, name := range watch.Files {
			delete(v.files, filepath.Join(v.dir, c.ID, name))
		}
	case c.File == "": // files that are new are told by themselves
		for _, name := range watch.Files {
			path := filepath.Join(v.dir, c.ID, name)
			if _, known := v.files[path]; known {
				v.read(path)
			}
		}
	case c.Op == Removed:
		delete(v.files, filepath.Join(v.dir, c.ID, c.File))
	default:
		v.read(filepath.Join(v.dir, c.ID, c.File))
	}
}

func (v *view) read(path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		delete(v.files, path)
		return
	}
	v.files[path] = string(data)
}

// requireTrue waits until the view is what is on disk.
func (v *view) requireTrue(t *testing.T) {
	t.Helper()
	disk := readSessions(v.dir)
	same := func() bool {
		v.mu.Lock()
		defer v.mu.Unlock()
		return maps.Equal(v.files, disk)
	}
	for end := time.Now().Add(patience); !same() && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	require.Equal(t, disk, v.files)
}

// requireTold waits until all of ids are told.
func (v *view) requireTold(t *testing.T, ids map[string]bool) {
	t.Helper()
	require.Eventually(t, func() bool {
		v.mu.Lock()
		defer v.mu.Unlock()
		for id := range ids {
			if !v.told[id] {
				return false
			}
		}
		return true
	}, patience, 10*time.Millisecond)
}

func (w *Watcher) overflowed() bool {
	return w.changes.Waits(watch.Change{Op: watch.Rescan})
}

// waiting reports whether a change waits to be taken.
func (w *Watcher) waiting(c Change) bool {
	return w.changes.Waits(watch.Change{ID: c.ID, File: c.File})
}

func TestWatchBurst(t *testing.T) {
	t.Parallel()
	changes := testenv.Share(5500, 5500, 10_000)
	inPlace(t, testenv.Scratch, modes[:testenv.Share(1, 1, 2)], func(t *testing.T, st *Store, w *Watcher) { // polling waits in the same queue
		v := newView(st)
		const sessions, files = 1000, 5
		for i := range changes {
			id, name := strconv.Itoa(i%sessions), watch.Files[i/sessions%files]
			if i < sessions*files {
				put(t, st, id, name, "begun")
			} else {
				appendTo(t, st, id, name, ", continued")
			}
			if i == changes-1000 {
				require.Eventually(t, w.overflowed, patience, time.Millisecond)
				v.follow(w)
			}
		}
		v.requireTrue(t)
		require.NoError(t, w.Close())
		v.followed.Wait()
		require.NotZero(t, v.rescans, "more changes than may wait")
	})
}

func TestWatchChurn(t *testing.T) {
	t.Parallel()
	inModes(t, func(t *testing.T, st *Store, w *Watcher) {
		seed := testenv.Seed(t)
		c := churn{st: st, random: rand.New(rand.NewPCG(seed, 0)), changed: map[string]bool{}, fleeting: map[string]bool{}}
		v := newView(st)
		v.follow(w)
		for i := range 400 {
			c.step(t, i)
		}
		v.requireTrue(t)
		for id := range c.fleeting { // not there before nor after, they may or may not be told
			delete(c.changed, id)
		}
		v.requireTold(t, c.changed) // a session without files may be told last
		require.NoError(t, w.Close())
		v.followed.Wait()
		require.Zero(t, v.rescans)
		for id := range c.fleeting {
			delete(v.told, id)
		}
		require.Equal(t, slices.Sorted(maps.Keys(c.changed)), slices.Sorted(maps.Keys(v.told)))
	})
}

// churn changes sessions as other programs do.
type churn struct {
	st                *Store
	random            *rand.Rand
	created           []string
	changed, fleeting map[string]bool
}

func (c *churn) step(t *testing.T, i int) {
	if i%50 == 0 {
		time.Sleep(time.Duration(c.random.IntN(100)) * time.Millisecond)
	}
	fresh := len(c.created) == 0 || c.random.IntN(20) == 0
	if fresh {
		c.created = append(c.created, fmt.Sprint("created-", i))
	}
	id := c.created[c.random.IntN(len(c.created))]
	if fresh {
		id = c.created[len(c.created)-1]
	}
	c.changed[id] = true
	delete(c.fleeting, id)
	dir := filepath.Join(c.st.Dir(), id)
	name := watch.Files[c.random.IntN(len(watch.Files))]
	content := fmt.Sprint("state ", i)
	switch c.random.IntN(6) {
	case 0:
		require.NoError(t, os.RemoveAll(dir))
		c.fleeting[id] = true
	case 1:
		require.NoError(t, os.RemoveAll(dir))
		put(t, c.st, id, name, content)
	case 2:
		put(t, c.st, id, "x.tmp", content)
		require.NoError(t, os.Rename(filepath.Join(dir, "x.tmp"), filepath.Join(dir, name)))
	case 3:
		put(t, c.st, id, name, content)
		require.NoError(t, os.Remove(filepath.Join(dir, name)))
	default:
		put(t, c.st, id, name, content)
	}
}

// TestWatchLeavesNothing is not parallel: it counts.
func TestWatchLeavesNothing(t *testing.T) {
	st := openWatched(t, "old", "other")
	once := func() {
		w, err := st.Watch(t.Context())
		require.NoError(t, err)
		appendTo(t, st, "old", "metadata.json", " ")
		await(t, w, Change{ID: "old", File: "metadata.json"})
		require.NoError(t, w.Close())
		ctx := canceledAfter{Context: t.Context(), checks: new(int)}
		_, err = st.Watch(ctx)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	}
	once()
	goroutines, descriptors := runtime.NumGoroutine(), countDescriptors()
	for range 5 {
		once()
	}
	for end := time.Now().Add(patience); runtime.NumGoroutine() > goroutines && time.Now().Before(end); {
		time.Sleep(time.Millisecond) // a goroutine counts for a moment after it has ended
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), goroutines)
	require.LessOrEqual(t, countDescriptors(), descriptors) // one that an earlier test left may be gone by now
	require.Zero(t, st.watchers.Len())
}

// countDescriptors returns 0 where the system does not tell. Wine shows the /proc
// of Linux, which tells of Wine.
func countDescriptors() int {
	if runtime.GOOS != "linux" {
		return 0
	}
	all, _ := os.ReadDir("/proc/self/fd")
	return len(all)
}

// canceledAfter is a context that ends when it is looked at for the second
// time, in the middle of a call.
type canceledAfter struct {
	context.Context
	checks *int
}

func (c canceledAfter) Err() error {
	*c.checks++
	if *c.checks > 1 {
		return os.ErrDeadlineExceeded
	}
	return nil
}
