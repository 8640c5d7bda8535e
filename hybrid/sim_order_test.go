package hybrid

import (
	"cmp"
	"context"
	"math/rand/v2"
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

	mu      sync.Mutex // guards what follows
	waiting []*turn
	busy    map[string]bool // devices that make a call
}

type turn struct {
	key    string // tells requests apart that wait at the same time
	device string // that makes no call meanwhile, until end; "": it may
	now    chan struct{}
}

func newOrder(r *rand.Rand) *order {
	return &order{rand: r, more: make(chan struct{}, 1), done: make(chan struct{}), busy: map[string]bool{}}
}

// wait returns when it is the turn of a request.
func (o *order) wait(ctx context.Context, key string) error {
	return o.take(ctx, &turn{key: key})
}

// begin returns when it is the turn of a device's call, which ends by end.
func (o *order) begin(ctx context.Context, device, key string) error {
	return o.take(ctx, &turn{key: device + "\n" + key, device: device})
}

func (o *order) end(device string) {
	o.mu.Lock()
	delete(o.busy, device)
	o.mu.Unlock()
	o.wake()
}

func (o *order) wake() {
	select {
	case o.more <- struct{}{}:
	default:
	}
}

func (o *order) take(ctx context.Context, t *turn) error {
	t.now = make(chan struct{})
	o.mu.Lock()
	o.waiting = append(o.waiting, t)
	o.mu.Unlock()
	o.wake()
	select {
	case <-t.now:
		return nil
	case <-ctx.Done():
		o.mu.Lock()
		n := len(o.waiting)
		o.waiting = slices.DeleteFunc(o.waiting, func(w *turn) bool { return w == t })
		had := len(o.waiting) == n
		o.mu.Unlock()
		if had && t.device != "" {
			o.end(t.device)
		}
		return ctx.Err()
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
	var may []*turn
	for _, t := range o.waiting {
		if !o.busy[t.device] {
			may = append(may, t)
		}
	}
	if len(may) == 0 {
		return false
	}
	slices.SortStableFunc(may, func(a, b *turn) int { return cmp.Compare(a.key, b.key) })
	t := may[o.rand.IntN(len(may))]
	if t.device != "" {
		o.busy[t.device] = true
	}
	o.waiting = slices.DeleteFunc(o.waiting, func(w *turn) bool { return w == t })
	close(t.now)
	return true
}
