package eventslog

import (
	"bytes"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
)

// TestGroupCommit holds the first write back until 64 further calls wait for
// their turn: those share one write and one sync.
func TestGroupCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const callers = 64
		done := map[seam.Kind]int{}
		gate := make(chan struct{})
		hooks := &seam.Seam{
			Before: func(op seam.Op) error {
				if op.Kind == seam.Write {
					<-gate
				}
				return nil
			},
			After: func(op seam.Op) { done[op.Kind]++ },
		}
		l, err := open(filepath.Join(t.TempDir(), "sess"), &Options{Sync: true}, hooks)
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
		require.Equal(t, 2, done[seam.Write])
		require.Equal(t, 2, done[seam.Sync])
		require.Equal(t, 2*(callers+1), bytes.Count([]byte(content(t, l)), []byte("\n")))
		found, _ := names(t, l, Cursor{})
		for i := 0; i < len(found); i += 2 {
			require.Equal(t, found[i]+" too", found[i+1], "events of one call stand together")
		}
		names := done[seam.SyncDir]
		require.NoError(t, l.Append(t.Context(), Event{Name: "later"}))
		require.Equal(t, 3, done[seam.Write])
		require.Equal(t, 3, done[seam.Sync])
		require.Equal(t, names, done[seam.SyncDir], "the names are durable once")
		require.NoError(t, l.Close())
	})
}

// TestAppendWithoutSync syncs nothing but the names of what it makes.
func TestAppendWithoutSync(t *testing.T) {
	t.Parallel()
	done := map[seam.Kind]int{}
	l, err := open(t.TempDir(), nil, &seam.Seam{After: func(op seam.Op) { done[op.Kind]++ }})
	require.NoError(t, err)
	for range 3 {
		require.NoError(t, l.Append(t.Context(), Event{Name: "a"}, Event{Name: "b"}))
	}
	require.Equal(t, map[seam.Kind]int{seam.Create: 1, seam.Write: 3}, done)
	require.NoError(t, l.Close())
}
