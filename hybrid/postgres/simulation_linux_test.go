package postgres

import (
	"context"
	"flag"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/served"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

var simSeeds = flag.Int("seeds", 0, "how many seeds TestSimulation tries; 0: 8 with TEST_LONG set, else 1")

// TestSimulation is the simulation of package hybrid with a table for each seed.
func TestSimulation(t *testing.T) {
	t.Parallel()
	seeds := *simSeeds
	if seeds == 0 {
		seeds = testenv.Share(1, 1, 8)
	}
	inHybrid(t, "^TestSimulation$", fmt.Sprint("-seeds=", seeds))
}

// TestElsewhere runs the tests of package hybrid in which a process is killed at a request,
// or stalls at it for longer than the grace time, or devices work at once.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	inHybrid(t, "^Test(KillElsewhere|Stalls|Crowd)$")
}

// inHybrid runs tests of package hybrid with tables of their own.
func inHybrid(t *testing.T, tests string, flags ...string) {
	t.Helper()
	s := running(t)
	database := s.provisioned(t)
	var mu sync.Mutex // guards tables
	tables := map[string]*clock{}
	served.Run(t, tests, func(d *served.Device) (remote.Remote, error) {
		address := s.address("admin", database) + "?schema=" + d.Place
		mu.Lock()
		defer mu.Unlock()
		if tables[d.Place] == nil {
			if err := Provision(t.Context(), address); err != nil {
				return nil, err
			}
			tables[d.Place] = &clock{}
		}
		r, err := Connect(address)
		if err != nil {
			return nil, err
		}
		d.Calls = true
		return &clocked{r, tables[d.Place], d.Now}, nil
	}, flags...)
}

// clock records the times of calls by the server's clock and by another one, whose time
// stays the same during a call.
type clock struct {
	mu    sync.Mutex // guards calls
	calls [][2]time.Time
}

func (c *clock) begin(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, [2]time.Time{time.Now().Truncate(time.Microsecond), now})
}

// shown returns what the other clock showed at a time of the server.
func (c *clock) shown(at time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, call := range slices.Backward(c.calls) {
		if !call[0].After(at) {
			return call[1].UTC()
		}
	}
	return time.Time{}
}

// since returns the time of the server from which the other clock showed at least a time.
func (c *clock) since(at time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, call := range c.calls {
		if !call[1].Before(at) {
			return call[0]
		}
	}
	return time.Now()
}

// clocked is a remote whose times are by another clock.
type clocked struct {
	*Remote
	*clock
	now func() time.Time
}

func (r *clocked) Info(ctx context.Context) (remote.Info, error) {
	info, err := r.Remote.Info(ctx)
	info.Time, info.Complete = r.shown(info.Time), r.shown(info.Complete)
	return info, err
}

func (r *clocked) Get(ctx context.Context, part, name string, known remote.Version) (remote.Object, error) {
	r.begin(r.now())
	o, err := r.Remote.Get(ctx, part, name, known)
	o.Time = r.shown(o.Time)
	return o, err
}

func (r *clocked) List(ctx context.Context, part string, q remote.Query) iter.Seq2[remote.Object, error] {
	return func(yield func(remote.Object, error) bool) {
		if r.begin(r.now()); !q.Since.IsZero() {
			q.Since = r.since(q.Since)
		}
		for o, err := range r.Remote.List(ctx, part, q) {
			o.Time = r.shown(o.Time)
			if !yield(o, err) {
				return
			}
		}
	}
}

func (r *clocked) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	r.begin(r.now())
	return r.Remote.Commit(ctx, part, objects, swap)
}

func (r *clocked) Delete(ctx context.Context, part string, names []string) error {
	r.begin(r.now())
	return r.Remote.Delete(ctx, part, names)
}
