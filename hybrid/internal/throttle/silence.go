package throttle

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

const (
	silence   = 30 * time.Second // the longest one between two parts of a request or an answer
	slowest   = 16 << 10         // bytes a second of a remote that tells of no parts
	lastWords = 2 * time.Second  // from the end of a call's context to its return
	maxLeft   = 4                // calls that have not returned then
)

// quietFor returns how long a call with so many bytes may take that tells of no part.
func quietFor(bytes int) time.Duration {
	return silence + time.Duration(bytes)*time.Second/slowest
}

// bytesOf returns the number of bytes of a commit.
func bytesOf(objects []remote.Object, swap *remote.Swap) (n int) {
	for i := range objects {
		n += objects[i].Size()
	}
	if swap != nil {
		n += swap.Size()
	}
	return n
}

// listen ends the try when nothing moves for too long.
func (c *call) listen() {
	c.idle = time.AfterFunc(c.is.quiet, func() {
		if c.held.Load() || c.ctx.Err() != nil {
			return
		}
		limit := c.is.quiet
		if c.moved.Load() {
			limit = silence
		}
		c.budget.unheard(time.Now().Add(-limit), remote.NoAnswer(limit))
		c.end(remote.NoAnswer(limit))
	})
}

// move records that a part of the request or of the answer moves.
func (c *call) move() {
	c.moved.Store(true)
	if !c.held.Load() && c.ctx.Err() == nil { // a transport may read on after the call
		c.idle.Reset(silence)
	}
}

// A returned is what a method of a remote returns, or a row of its list.
type returned[T any] struct {
	value T
	err   error
}

// next returns the next value of a call that runs in a goroutine of its own, which closes from
// at its end; ok is false then. When the call gives none although its context has ended, next
// leaves it: it returns the reason of that end, and drops what the call may yet give.
func next[T any](c *call, from <-chan returned[T]) (r returned[T], ok bool) {
	ended, late := c.ctx.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case r, ok = <-from:
			return r, ok
		case <-ended:
			pause := time.NewTimer(lastWords)
			defer pause.Stop()
			ended, late = nil, pause.C
		case <-late:
			c.budget.leave(1)
			go func() {
				for range from {
				}
				c.budget.leave(-1)
			}()
			return returned[T]{err: context.Cause(c.ctx)}, false
		}
	}
}

// apart calls a method in a goroutine of its own, which can be left.
func apart[T any](c *call, method func() (T, error)) (T, error) {
	out := make(chan returned[T], 1)
	go func() {
		defer close(out)
		value, err := method()
		out <- returned[T]{value, err}
	}()
	r, _ := next(c, out)
	return r.value, r.err
}

// rows yields what a list yields in a goroutine of its own, which can be left. The list goes
// on when the caller asks for more, and the time until then is not the remote's.
func rows(c *call, list iter.Seq2[remote.Object, error]) iter.Seq2[remote.Object, error] {
	return func(yield func(remote.Object, error) bool) {
		out, more, over := make(chan returned[remote.Object]), make(chan struct{}), make(chan struct{})
		stop := sync.OnceFunc(func() { close(over) })
		defer stop()
		go func() {
			defer close(out)
			for o, err := range list {
				select {
				case out <- returned[remote.Object]{o, err}:
				case <-over:
					return
				}
				select {
				case <-more:
				case <-over:
					return
				}
			}
		}()
		for {
			r, ok := next(c, out)
			if !ok {
				if r.err != nil {
					yield(remote.Object{}, r.err)
				}
				return
			}
			c.held.Store(true)
			goes := yield(r.value, r.err)
			c.held.Store(false)
			c.move()
			if !goes {
				stop()
				_, _ = next(c, out)
				return
			}
			more <- struct{}{}
		}
	}
}

// leave counts the calls that were left and have not returned.
func (b *Budget) leave(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left += n; n < 0 {
		b.wake()
	}
}

// errTooManyLeft is the reason why no call is made while calls that were given up have not
// returned.
var errTooManyLeft = fmt.Errorf("%w: %d calls were given up and have not returned: it is asked again when one returns, or by another process", remote.ErrUnreachable, maxLeft)

// silent returns the reason why the remote is not asked now; nil: it may be asked.
func (b *Budget) silent() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left >= maxLeft {
		return errTooManyLeft
	}
	return b.isAway(time.Now())
}
