package hybrid

import (
	"fmt"
	"net/http"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// TestStormOfRefusals lets the account throttle everything for ten minutes,
// while 30 sessions are written all the time. What waits is ids alone: it does
// not grow, few requests are made, and nothing is lost.
func TestStormOfRefusals(t *testing.T) { // not parallel: it looks at the heap of the process
	synctest.Test(t, func(t *testing.T) {
		const sessions, minutes, every = 30, 10, time.Second
		c := newCloud(t, nil)
		until := time.Now().Add(minutes * time.Minute)
		c.Inject(cosmostest.Data(func(cosmostest.Request) cosmostest.Fault {
			if time.Now().Before(until) {
				return cosmostest.Refuse(http.StatusTooManyRequests, 500*time.Millisecond)
			}
			return cosmostest.Fault{}
		}))
		a := c.device(t, "a", background)
		saved := make([][]string, sessions)
		var first, last load
		for n := 0; time.Now().Before(until); n++ {
			id, text := n%sessions, fmt.Sprint("save ", n)
			a.say(fmt.Sprint("s", id), text)
			saved[id] = append(saved[id], text)
			time.Sleep(every)
			switch time.Until(until).Truncate(time.Second) {
			case (minutes - 2) * time.Minute:
				first = a.load()
			case 2 * time.Second:
				last = a.load()
			}
		}
		t.Logf("after 2 minutes %+v, after %d minutes %+v, %d refusals", first, minutes, last, c.Counters().ByStatus[http.StatusTooManyRequests])
		require.NotZero(t, first.heap)
		require.LessOrEqual(t, last.waiting, 2*sessions, "each session is marked, or due")
		require.LessOrEqual(t, last.goroutines, first.goroutines+maxSyncs)
		require.Less(t, last.heap, first.heap+(1<<20))
		require.Less(t, c.Counters().ByStatus[http.StatusTooManyRequests], 1500)
		require.Equal(t, Deferred, a.state("s0").State)

		time.Sleep(30 * time.Minute)
		b := c.device(t, "b")
		require.Equal(t, sessions, b.pull().Pulled)
		for i, texts := range saved {
			require.Equal(t, texts, b.texts(fmt.Sprint("s", i)))
		}
		require.Zero(t, a.load().waiting)
	})
}

// load is what a store holds while it waits for the cloud, and nothing moves.
type load struct {
	waiting, goroutines int
	heap                uint64 // bytes in use in the whole process
}

func (r *testDevice) load() load {
	synctest.Wait()
	w := r.worker
	w.mu.Lock()
	l := load{waiting: w.Dirty.Size() + len(w.due) + len(w.queue.waiting)}
	w.mu.Unlock()
	l.goroutines = runtime.NumGoroutine()
	for range 3 { // the first leaves what lies in pools
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	l.heap = m.HeapAlloc
	return l
}
