package sessionstore

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWatchContext ends the context of a watch, in the bubble of a test that
// fails if a goroutine of the watcher stays.
func TestWatchContext(t *testing.T) {
	t.Parallel()
	ends := []struct {
		name string
		with func(t *testing.T) (ctx context.Context, end func())
	}{
		{"cancelled", func(t *testing.T) (context.Context, func()) {
			return context.WithCancel(t.Context())
		}},
		{"timed out", func(t *testing.T) (context.Context, func()) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			t.Cleanup(cancel)
			return ctx, func() { <-ctx.Done() }
		}},
	}
	for _, tt := range ends {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				st := openWatched(t, "old")
				ctx, end := tt.with(t)
				w, err := st.watch(ctx, nil)
				require.NoError(t, err)
				appendTo(t, st, "old", "metadata.json", " ")
				await(t, w, Change{ID: "old", File: "metadata.json"})

				var consumer sync.WaitGroup
				consumer.Go(func() {
					for range w.Changes() {
					}
				})
				end()
				consumer.Wait()
				synctest.Wait()
				require.Zero(t, st.watchers.Len(), "the store still has the watcher")
				for range w.Changes() {
					require.Fail(t, "change told after the end of the context")
				}
				require.NoError(t, w.Close())
				require.NoError(t, w.Close())
			})
		})
	}
}

// TestWatchContextReleases ends the contexts of many watches and calls Close of
// none: no goroutine and no descriptor stays.
func TestWatchContextReleases(t *testing.T) {
	st := openWatched(t, "old")
	w, err := st.Watch(t.Context()) // the first use of the system's events may start what stays
	require.NoError(t, err)
	require.NoError(t, w.Close())

	goroutines, files := runtime.NumGoroutine(), countDescriptors()
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		w, err := st.Watch(ctx)
		require.NoError(t, err)
		cancel()
		for range w.Changes() {
		}
	}
	for end := time.Now().Add(patience); runtime.NumGoroutine() > goroutines && time.Now().Before(end); {
		time.Sleep(time.Millisecond) // nobody waits for these watchers
	}
	require.Zero(t, st.watchers.Len())
	require.LessOrEqual(t, runtime.NumGoroutine(), goroutines)
	require.LessOrEqual(t, countDescriptors(), files)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = st.Watch(ctx)
	require.ErrorIs(t, err, context.Canceled)
}
