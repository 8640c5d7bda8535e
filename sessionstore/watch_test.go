package sessionstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/store/watch"
)

// patience is how long a test waits for a change: longer than promised, since
// test machines are busy. Promises are tested with a clock that is not.
const patience = time.Minute

// mode is a way to watch.
type mode struct {
	name   string
	events func() (*watch.Notifier, error)
}

// modes are the ways to watch: with the system's events where it has them,
// with events that cease, and without.
var modes = []mode{
	{"events", watch.NewNotifier},
	{"polling", noEvents},
	{"ceasing events", func() (*watch.Notifier, error) {
		events, err := watch.NewNotifier()
		if err != nil {
			return nil, err
		}
		return events, events.Close()
	}},
}

func noEvents() (*watch.Notifier, error) { return nil, nil }

// inModes runs a test in each mode, with a store that has the sessions "old"
// and "other", of two files each, and a watcher of it.
func inModes(t *testing.T, test func(t *testing.T, st *Store, w *Watcher)) {
	t.Helper()
	in(t, modes, test)
}

// in is inModes for some of them.
func in(t *testing.T, modes []mode, test func(t *testing.T, st *Store, w *Watcher)) {
	t.Helper()
	inPlace(t, testing.TB.TempDir, modes, test)
}

func inPlace(t *testing.T, place func(testing.TB) string, modes []mode, test func(t *testing.T, st *Store, w *Watcher)) {
	t.Helper()
	for _, mode := range modes {
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			events, err := mode.events()
			if errors.Is(err, errors.ErrUnsupported) {
				t.Skip("the system has no events")
			}
			require.NoError(t, err)
			st := openWatchedIn(t, place(t), "old", "other")
			w, err := st.watch(t.Context(), events)
			require.NoError(t, err)
			test(t, st, w)
			require.NoError(t, w.Close())
		})
	}
}

// openWatched opens a store with these sessions.
func openWatched(t testing.TB, ids ...string) *Store {
	t.Helper()
	return openWatchedIn(t, t.TempDir(), ids...)
}

func openWatchedIn(t testing.TB, place string, ids ...string) *Store {
	t.Helper()
	st, err := Open(filepath.Join(place, "sessions"), &Options{Durability: Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	for _, id := range ids {
		put(t, st, id, "transcript.jsonl", `{"role": "user", "content": "first"}`+"\n")
		put(t, st, id, "metadata.json", `{"session_id": "`+id+`"}`)
	}
	time.Sleep(40 * time.Millisecond) // what follows is later by the file system's clock
	return st
}

// put writes a file in place, as another program would.
func put(t testing.TB, st *Store, id, name, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(st.Dir(), id), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(st.Dir(), id, name), []byte(content), 0o600))
}

// appendTo appends to a file in place.
func appendTo(t testing.TB, st *Store, id, name, content string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(st.Dir(), id, name), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(content)
	require.NoError(t, errors.Join(err, f.Close()))
}

// await takes changes until all of want were among them, or everything is to
// be read again. It returns all.
func await(t testing.TB, w *Watcher, want ...Change) (got []Change) {
	t.Helper()
	want = slices.Clone(want)
	late := time.AfterFunc(patience, func() { _ = w.Close() })
	defer late.Stop()
	for c := range w.Changes() {
		got = append(got, c)
		want = slices.DeleteFunc(want, func(x Change) bool { return x == c })
		if len(want) == 0 || c.Op == Rescan {
			return got
		}
	}
	require.Failf(t, "changes not seen", "%v; seen were %v", want, got)
	return nil
}

// TestWatchPromise measures, with a clock that only moves when all wait, how
// long polling takes to see a change.
func TestWatchPromise(t *testing.T) {
	t.Parallel()
	const sessions = 300
	synctest.Test(t, func(t *testing.T) {
		st := openWatched(t)
		for i := range sessions {
			put(t, st, fmt.Sprint(i), "events.jsonl", "{}\n")
		}
		w, err := st.watch(t.Context(), nil)
		require.NoError(t, err)
		for i := 0; i < sessions; i += 37 {
			id, start := fmt.Sprint(i), time.Now()
			appendTo(t, st, id, "events.jsonl", "{}\n")
			await(t, w, Change{ID: id, File: "events.jsonl"})
			require.Less(t, time.Since(start), 2*time.Second)
			time.Sleep(time.Duration(i) * 11 * time.Millisecond)
		}
		require.NoError(t, w.Close())
	})
}

func TestWatchCoalesces(t *testing.T) {
	t.Parallel()
	in(t, modes[:2], func(t *testing.T, st *Store, w *Watcher) {
		for i := range 500 {
			put(t, st, "old", "transcript.jsonl", fmt.Sprint("first ", i))
			if i == 0 {
				await(t, w, Change{ID: "old", File: "transcript.jsonl"})
			}
		}
		put(t, st, "end", "metadata.json", "{}")
		end := Change{ID: "end", File: "metadata.json"}
		require.Eventually(t, func() bool { return w.waiting(end) }, patience, time.Millisecond) // what was before is told
		var told int
		for _, c := range await(t, w, end) {
			if c.ID == "old" {
				told++
			}
		}
		require.LessOrEqual(t, told, 5)
	})
}

func TestWatchCloses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		close func(st *Store, w *Watcher) error
	}{
		{"watcher", func(_ *Store, w *Watcher) error { return w.Close() }},
		{"store", func(st *Store, _ *Watcher) error { return st.Close() }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			st := openWatched(t, "old")
			w, err := st.Watch(t.Context())
			require.NoError(t, err)
			var consumer sync.WaitGroup
			consumer.Go(func() {
				for range w.Changes() {
				}
			})
			appendTo(t, st, "old", "metadata.json", " ")
			require.NoError(t, tt.close(st, w))
			consumer.Wait()
			require.NoError(t, tt.close(st, w))
			require.NoError(t, w.Close())
			for range w.Changes() {
				require.Fail(t, "change told by a closed watcher")
			}
		})
	}
}

func TestWatchClosedByItsConsumer(t *testing.T) {
	t.Parallel()
	st := openWatched(t, "old")
	w, err := st.Watch(t.Context())
	require.NoError(t, err)
	appendTo(t, st, "old", "metadata.json", " ")
	appendTo(t, st, "old", "transcript.jsonl", "\n")
	times := 0
	for range w.Changes() {
		require.NoError(t, w.Close())
		times++
	}
	require.Equal(t, 1, times)
}

func TestWatchGoesOnAfterBreak(t *testing.T) {
	t.Parallel()
	in(t, modes[:2], func(t *testing.T, st *Store, w *Watcher) {
		want := map[string]bool{"transcript.jsonl": true, "metadata.json": true}
		appendTo(t, st, "old", "metadata.json", " ")
		appendTo(t, st, "old", "transcript.jsonl", "\n")
		for len(want) > 0 {
			for c := range w.Changes() {
				delete(want, c.File)
				break
			}
		}
	})
}

func TestWatchOfClosedStore(t *testing.T) {
	t.Parallel()
	st := openWatched(t, "old")
	require.NoError(t, st.Close())
	_, err := st.Watch(t.Context())
	require.ErrorIs(t, err, ErrClosed)
}
