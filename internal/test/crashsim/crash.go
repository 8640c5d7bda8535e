package crashsim

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"iter"
	"math/rand/v2"
)

// A Crash generates the states in which a power cut may leave the disk on which a log was
// recorded. Zero values of Seeds, Tears and Max mean 4, 64 and 10,000. It is made for small
// files: all contents that one cut may leave are in memory at once.
type Crash struct {
	Log   *Log
	Seed  uint64
	Seeds int // how many seeded choices of data, and of names, for each cut
	Tears int // at how many places a write is torn; a shorter one is torn at every byte
	Max   int // how many states at most; they are spread over all cuts
	// From and To limit the cuts to those after so many operations; To zero: all.
	From, To int
	// Ordered is a disk that makes names durable in their order, over all
	// directories, and with any sync, as a journal does. Without it names may
	// be lost one by one until their directory is synced.
	Ordered bool
}

// A Tally counts the work of [Crash.States].
type Tally struct {
	Cuts   int // operations after which the power was cut
	Tried  int // combinations of kept data and kept names that were made
	States int // states that were yielded, different from each other
	Left   int // combinations that were left out, for want of room in Max
}

// String returns the tally as a line for a test's log.
func (t Tally) String() string {
	return fmt.Sprintf("%d states after %d cuts (%d tried, %d left out)", t.States, t.Cuts, t.Tried, t.Left)
}

// States yields the different states, cut by cut, and counts them in tally,
// which may be nil. A state comes again after each acknowledgement, as it may
// be right before and wrong after; if the log has no acknowledgements, after
// each cut. With equal logs and options the states are the same ones. A log
// that cannot be replayed ends them with an error.
func (c *Crash) States(tally *Tally) iter.Seq2[*State, error] {
	if tally == nil {
		tally = new(Tally)
	}
	return func(yield func(*State, error) bool) {
		*tally = Tally{}
		g := &generator{
			crash: c, tally: tally, disk: c.Log.start.clone(),
			max: cmp.Or(c.Max, 10_000), last: min(cmp.Or(c.To, len(c.Log.Steps)), len(c.Log.Steps)),
		}
		g.disk.ordered = c.Ordered
		g.run(yield)
	}
}

// generator is the state of one iteration over States.
type generator struct {
	crash     *Crash
	tally     *Tally
	disk      *disk
	seen      map[[sha256.Size]byte]bool // since the last acknowledgement
	acked     int
	max, last int
}

func (g *generator) run(yield func(*State, error) bool) {
	for done := 0; done <= g.last; done++ {
		if done > 0 {
			if err := g.disk.step(g.crash.Log.Steps[done-1]); err != nil {
				yield(nil, err)
				return
			}
		}
		g.forget(done)
		if done >= g.crash.From && !g.cut(done, yield) {
			return
		}
	}
}

// forget lets states come again where other ones may be right.
func (g *generator) forget(done int) {
	acks := g.crash.Log.acks
	was := g.acked
	for g.acked < len(acks) && acks[g.acked] <= done {
		g.acked++
	}
	if g.seen == nil || g.acked != was || len(acks) == 0 {
		g.seen = map[[sha256.Size]byte]bool{}
	}
}

// cut yields the states after so many operations; false means to stop.
func (g *generator) cut(done int, yield func(*State, error) bool) bool {
	rng := rand.New(rand.NewPCG(g.crash.Seed, uint64(done)))
	seeds := cmp.Or(g.crash.Seeds, 4)
	policies := g.disk.policies(cmp.Or(g.crash.Tears, 64), seeds, g.crash.Seed)
	masks := g.disk.masks(seeds, rng)
	files := make([][]content, len(policies))
	cuts := g.last - done + 1
	room := (g.max - g.tally.States + cuts - 1) / cuts
	g.tally.Cuts++
	left := len(policies) * len(masks)
	for data, names := range pairs(len(policies), len(masks), rng) {
		if room == 0 {
			break
		}
		if files[data] == nil {
			files[data] = g.disk.contents(policies[data])
		}
		s := &State{Done: done, Acked: g.acked, names: g.disk.survived(masks[names]), files: files[data]}
		g.tally.Tried++
		left--
		sum := s.sum()
		if g.seen[sum] {
			continue
		}
		g.seen[sum] = true
		g.tally.States++
		room--
		s.text = g.describe(done, policies[data].name, masks[names])
		if !yield(s, nil) {
			return false
		}
	}
	g.tally.Left += left
	return true
}

// pairs yields all pairs of a policy and a mask: first the extremes of both,
// then the extremes of data with all other names, then the others; the last
// two groups are scattered, so that a part of them is a sample.
func pairs(policies, masks int, rng *rand.Rand) iter.Seq2[int, int] {
	d, n := min(policies, 2), min(masks, 2)
	return func(yield func(data, names int) bool) {
		for i := range d * n {
			if !yield(i/n, i%n) {
				return
			}
		}
		for i := range scattered(d*(masks-n), rng) {
			if !yield(i%d, n+i/d) {
				return
			}
		}
		for i := range scattered((policies-d)*masks, rng) {
			if !yield(d+i/masks, i%masks) {
				return
			}
		}
	}
}

// scattered yields the numbers below n once each, out of order.
func scattered(n int, rng *rand.Rand) iter.Seq[int] {
	return func(yield func(int) bool) {
		if n == 0 {
			return
		}
		step := 1 + rng.Uint64N(uint64(n))
		for gcd(step, uint64(n)) != 1 {
			step = 1 + rng.Uint64N(uint64(n))
		}
		at := rng.Uint64N(uint64(n))
		for range n {
			if !yield(int(at)) {
				return
			}
			at = (at + step) % uint64(n)
		}
	}
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// contents returns all files as p keeps them.
func (d *disk) contents(p policy) []content {
	list := make([]content, len(d.inodes))
	for n, f := range d.inodes {
		list[n] = f.content(func(i int, c change) kept { return p.keep(n, i, c) })
	}
	return list
}

func (g *generator) describe(done int, data, names string) string {
	after := "the beginning"
	if done > 0 {
		after = g.crash.Log.Steps[done-1].String()
	}
	at := []int{}
	for _, m := range g.disk.moves {
		at = append(at, m.step)
	}
	return fmt.Sprintf("seed %d, cut at %d of %d, after %s; data kept: %s; names kept: %q of operations %v",
		g.crash.Seed, done, len(g.crash.Log.Steps), after, data, names, at)
}
