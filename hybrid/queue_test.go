package hybrid

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

func TestQueueOrder(t *testing.T) {
	t.Parallel()
	q := queue{}
	take := func() string {
		id, why, ok := q.next()
		if !ok {
			return ""
		}
		return fmt.Sprint(id, " ", why)
	}
	require.Empty(t, take())
	q.add("cloud", replica.Hinted)
	q.add("both", replica.Hinted)
	q.add("here", replica.Written)
	q.add("both", replica.Written)
	require.Equal(t, fmt.Sprint("here ", replica.Written), take(), "what was written here goes first")
	q.add("here", replica.Hinted)
	require.Equal(t, fmt.Sprint("both ", replica.Hinted), take(), "it was written here, and the cloud is asked")
	require.Equal(t, fmt.Sprint("cloud ", replica.Hinted), take())
	require.Empty(t, take(), "no session is synced twice at once")
	require.Equal(t, map[string]replica.Reason{"here": replica.Hinted}, q.rest())
	q.end("here")
	require.Equal(t, fmt.Sprint("here ", replica.Hinted), take())
}

// TestQueueModel compares a queue with sets: whatever was added is taken, once,
// and never while it is running.
func TestQueueModel(t *testing.T) {
	t.Parallel()
	r := testenv.Rand(t)
	q, waiting, running := queue{}, map[string]replica.Reason{}, map[string]bool{}
	for range 20_000 {
		switch id := fmt.Sprint(r.IntN(12)); r.IntN(3) {
		case 0:
			why := replica.Reason(r.IntN(2))
			q.add(id, why)
			waiting[id] = max(waiting[id], why)
		case 1:
			got, why, ok := q.next()
			free := slices.DeleteFunc(slices.Collect(maps.Keys(waiting)), func(id string) bool { return running[id] })
			require.Equal(t, len(free) > 0, ok)
			if ok {
				require.Contains(t, free, got)
				require.Equal(t, waiting[got], why)
				delete(waiting, got)
				running[got] = true
			}
		case 2:
			if running[id] {
				q.end(id)
				delete(running, id)
			}
		}
		if r.IntN(100) == 0 {
			id := fmt.Sprint(r.IntN(12))
			q.drop(id)
			delete(waiting, id)
		}
		require.Equal(t, len(waiting), len(q.rest()))
	}
}
