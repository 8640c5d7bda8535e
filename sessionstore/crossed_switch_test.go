package sessionstore_test

import (
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/test/writertest"
)

// side is one of two calls that are crossed.
type side struct {
	*halt
	call func() error
}

// patience is how long a side is waited for that may be waiting for the other.
const patience = 30 * time.Millisecond

// switches lets a go to its step, then b, then a to its end, then b.
func (r *pausedRun) switches(a, b *side, reader bool) {
	var all sync.WaitGroup
	look := func() {
		if reader {
			all.Go(func() {
				_, err := r.h.Load("load of an old tool", &writertest.OldTool{Dir: r.session})
				r.check(err)
			})
		}
	}
	for _, s := range []*side{a, b} {
		all.Go(func() {
			r.check(s.call())
			s.end()
		})
		s.await()
		look()
	}
	a.release()
	a.awaitEnd()
	look()
	b.release()
	all.Wait()
}

// A halt stops a call at one of its steps, once.
type halt struct {
	look     func()     // called at each step, unless it is nil
	mu       sync.Mutex // guards the counts
	n, stop  int
	reached  chan struct{} // closed at the step, or at the end
	goOn     chan struct{}
	ended    chan struct{}
	arriving sync.Once
}

func newHalt() *halt {
	return &halt{reached: make(chan struct{}), goOn: make(chan struct{}), ended: make(chan struct{})}
}

// at lets the steps be counted from here on, and the call stop at step n.
func (h *halt) at(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.n, h.stop = 0, n
}

// step is called before each step of the call.
func (h *halt) step() {
	h.mu.Lock()
	h.n++
	here := h.n == h.stop
	h.mu.Unlock()
	if h.look != nil {
		h.look()
	}
	if here {
		h.arrive()
		<-h.goOn
	}
}

func (h *halt) steps() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.n
}

func (h *halt) arrive() { h.arriving.Do(func() { close(h.reached) }) }

func (h *halt) end() {
	h.arrive()
	close(h.ended)
}

func (h *halt) release() { close(h.goOn) }

// await waits until the call stopped or ended, or seems to wait for the other.
func (h *halt) await() {
	select {
	case <-h.reached:
	case <-time.After(patience):
	}
}

// awaitEnd waits until the call ended, or seems to wait for the other.
func (h *halt) awaitEnd() {
	select {
	case <-h.ended:
	case <-time.After(patience):
	}
}
