package hybrid

import (
	"cmp"
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing/synctest"
)

// order lets the requests of all devices go one after the other: the next one
// when nothing else runs, chosen among those that wait by the seed. So it does
// not depend on the scheduler of goroutines what a seed does.
type order struct {
	rand *rand.Rand
	more chan struct{} // holds a token when somebody waits
	done chan struct{} // closed when run ends

	mu      sync.Mutex // guards waiting
	waiting []*turn
}

type turn struct {
	key string // tells requests apart that wait at the same time
	now chan struct{}
}

func newOrder(r *rand.Rand) *order {
	return &order{rand: r, more: make(chan struct{}, 1), done: make(chan struct{})}
}

// wait returns when it is the turn of a request.
func (o *order) wait(r *http.Request, device string) error {
	body, err := peek(r)
	if err != nil {
		return err
	}
	t := &turn{
		key: device + "\n" + r.Method + "\n" + r.URL.Path + "\n" + r.Header.Get("x-ms-documentdb-partitionkey") + "\n" + string(body),
		now: make(chan struct{}),
	}
	o.mu.Lock()
	o.waiting = append(o.waiting, t)
	o.mu.Unlock()
	select {
	case o.more <- struct{}{}:
	default:
	}
	select {
	case <-t.now:
		return nil
	case <-r.Context().Done():
		o.mu.Lock()
		o.waiting = slices.DeleteFunc(o.waiting, func(w *turn) bool { return w == t })
		o.mu.Unlock()
		return r.Context().Err()
	}
}

// run gives turns until ctx ends.
func (o *order) run(ctx context.Context) {
	defer close(o.done)
	for {
		select {
		case <-o.more:
		case <-ctx.Done():
			return
		}
		for {
			synctest.Wait()
			if !o.next() {
				break
			}
		}
	}
}

// next lets one request go, if any waits.
func (o *order) next() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) == 0 {
		return false
	}
	slices.SortFunc(o.waiting, func(a, b *turn) int { return cmp.Compare(a.key, b.key) })
	i := o.rand.IntN(len(o.waiting))
	close(o.waiting[i].now)
	o.waiting = slices.Delete(o.waiting, i, i+1)
	return true
}
