package eventslog

import (
	"bytes"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/fault"
)

// TestGroupCommit holds the first write back until 64 further calls wait for
// their turn: those share one write and one sync.
func TestGroupCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const callers = 64
		done := map[fault.Kind]int{}
		gate := make(chan struct{})
		seam := &fault.Seam{
			Before: func(op fault.Op) error {
				if op.Kind == fault.Write {
					<-gate
				}
				return nil
			},
			After: func(op fault.Op) { done[op.Kind]++ },
		}
		l, err := open(filepath.Join(t.TempDir(), "sess"), &Options{Sync: true}, seam)
		require.NoError(t, err)
		var wg sync.WaitGroup
		call := func(n int) {
			wg.Go(func() {
				if err := l.Append(t.Context(), Event{Name: fmt.Sprint(n)}, Event{Name: fmt.Sprint(n, " too")}); err != nil {
					t.Error(err)
				}
			})
		}
		call(0)
		synctest.Wait()
		for n := range callers {
			call(n + 1)
		}
		synctest.Wait()
		close(gate)
		wg.Wait()
		require.Equal(t, 2, done[fault.Write])
		require.Equal(t, 2, done[fault.Sync])
		require.Equal(t, 2*(callers+1), bytes.Count([]byte(content(t, l)), []byte("\n")))
		found, _ := names(t, l, Cursor{})
		for i := 0; i < len(found); i += 2 {
			require.Equal(t, found[i]+" too", found[i+1], "events of one call stand together")
		}
		names := done[fault.SyncDir]
		require.NoError(t, l.Append(t.Context(), Event{Name: "later"}))
		require.Equal(t, 3, done[fault.Write])
		require.Equal(t, 3, done[fault.Sync])
		require.Equal(t, names, done[fault.SyncDir], "the names are durable once")
		require.NoError(t, l.Close())
	})
}

// TestAppendWithoutSync syncs nothing but the names of what it makes.
func TestAppendWithoutSync(t *testing.T) {
	t.Parallel()
	done := map[fault.Kind]int{}
	l, err := open(t.TempDir(), nil, &fault.Seam{After: func(op fault.Op) { done[op.Kind]++ }})
	require.NoError(t, err)
	for range 3 {
		require.NoError(t, l.Append(t.Context(), Event{Name: "a"}, Event{Name: "b"}))
	}
	require.Equal(t, map[fault.Kind]int{fault.Create: 1, fault.Write: 3}, done)
	require.NoError(t, l.Close())
}
