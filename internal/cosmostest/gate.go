package cosmostest

import (
	"context"
	"errors"
	"sync"
	"time"
)

// A gate numbers requests as they arrive and asks a plan for their faults.
type gate struct {
	now   func() time.Time
	sleep func(context.Context, time.Duration) error

	mu   sync.Mutex // held while the plan or an observer runs
	plan Plan
	n    int
}

func newGate(o Options) *gate {
	g := &gate{now: o.Now, sleep: o.Sleep}
	if g.now == nil {
		g.now = time.Now
	}
	if g.sleep == nil {
		g.sleep = sleep
	}
	return g
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *gate) inject(p Plan) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.plan = p
}

// arrive numbers a call and gives it its fault, then calls next, if any, in
// the order of the numbers.
func (g *gate) arrive(c *call, next func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n++
	c.N, c.At = g.n, g.now()
	if g.plan != nil {
		c.fault = g.plan(c.Request)
	}
	if next != nil {
		next()
	}
}

// tell calls an observer, one at a time.
func (g *gate) tell(observe func(Record), r Record) {
	if observe == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	observe(r)
}

// wait waits for what the fault puts before a request is applied. It reports
// an error when the request is not to be applied.
func (g *gate) wait(ctx context.Context, c *call) error {
	if d := c.fault.Delay; d > 0 {
		if err := g.sleep(ctx, d); err != nil {
			return err
		}
		c.At = g.now()
	}
	if c.fault.Drop {
		return errBroken
	}
	return ctx.Err()
}

// lose waits for what the fault puts before the answer, and reports an error
// when the answer is lost.
func (g *gate) lose(ctx context.Context, c *call) error {
	if d := c.fault.Hold; d > 0 {
		if err := g.sleep(ctx, d); err != nil {
			return err
		}
	}
	if c.fault.Lose {
		return errBroken
	}
	return nil
}

// errBroken says that the connection breaks: no answer comes.
var errBroken = errors.New("connection broken")
