package trash

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAtOnce lets several programs remove the same sessions, and bring them
// back, at the same time: each session is in one place all the while.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	const sessions, programs = 12, 3
	dir := newSessionsDir(t)
	st := open(t, dir, nil)
	var all []string
	for i := range sessions {
		all = append(all, fmt.Sprint("s", i))
		put(t, st, all[i], "")
	}
	whole := tree(filepath.Join(dir, all[0]))
	for range 3 {
		var plans []*Plan
		for range programs {
			plans = append(plans, plan(t, open(t, dir, nil), Options{}, all...))
		}
		results := make([]Deleted, programs)
		failed := make([]error, programs)
		var wait sync.WaitGroup
		for i, p := range plans {
			wait.Go(func() { results[i], failed[i] = p.Delete(t.Context()) })
		}
		wait.Wait()
		taken := 0
		for i, r := range results {
			require.NoError(t, failed[i])
			require.Len(t, r.Failed, sessions-len(r.Receipt.Sessions))
			taken += len(r.Receipt.Sessions)
		}
		require.Equal(t, sessions, taken)
		for _, id := range all {
			require.Len(t, places(dir, id), 1, id)
		}
		receipts, err := List(t.Context(), st)
		require.NoError(t, err)
		back := make([]int, programs)
		for i := range programs {
			wait.Go(func() {
				for _, r := range receipts {
					restored, err := Restore(t.Context(), plans[i].st, r, nil)
					back[i] += len(restored.Sessions)
					failed[i] = err
				}
			})
		}
		wait.Wait()
		n := 0
		for i := range programs {
			require.NoError(t, failed[i])
			n += back[i]
		}
		require.Equal(t, sessions, n)
		require.Equal(t, whole, tree(filepath.Join(dir, all[0])))
	}
}
