package fault

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
)

// A Crash generates the states in which a power cut may leave the disk on
// which a log was recorded. Zero values of Seeds, Tears and Max stand for 4,
// 64 and 10,000.
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

// A Tally counts what [Crash.States] did.
type Tally struct {
	Cuts   int // operations after which the power was cut
	Tried  int // combinations of kept data and kept names that were made
	States int // different ones among them
	Left   int // combinations that were left out, for want of room in Max
}

// String returns the tally as a line for a test's log.
func (t Tally) String() string {
	return fmt.Sprintf("%d states after %d cuts (%d tried, %d left out)", t.States, t.Cuts, t.Tried, t.Left)
}

// States yields the different states, cut by cut, and counts them in tally,
// which may be nil. With equal logs and options they are the same ones. A log
// that cannot be replayed ends them with an error.
func (c *Crash) States(tally *Tally) iter.Seq2[*State, error] {
	if tally == nil {
		tally = new(Tally)
	}
	return func(yield func(*State, error) bool) {
		*tally = Tally{}
		g := &generator{
			crash: c, tally: tally, disk: c.Log.start.clone(), seen: map[[sha256.Size]byte]bool{},
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
	seen      map[[sha256.Size]byte]bool
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
		if done >= g.crash.From && !g.cut(done, yield) {
			return
		}
	}
}

// A combo is a choice of a data policy and a mask of names.
type combo struct{ data, names, rank int }

// cut yields the states after so many operations; false means to stop.
func (g *generator) cut(done int, yield func(*State, error) bool) bool {
	rng := rand.New(rand.NewPCG(g.crash.Seed, uint64(done)))
	seeds := cmp.Or(g.crash.Seeds, 4)
	policies := g.disk.policies(cmp.Or(g.crash.Tears, 64), seeds, g.crash.Seed)
	masks := g.disk.masks(seeds, rng)
	combos := combine(len(policies), len(masks), rng)
	files := make([][]content, len(policies))
	cuts := g.last - done + 1
	room := (g.max - g.tally.States + cuts - 1) / cuts
	g.tally.Cuts++
	for i, c := range combos {
		if room == 0 {
			g.tally.Left += len(combos) - i
			break
		}
		if files[c.data] == nil {
			files[c.data] = g.disk.contents(policies[c.data])
		}
		s := &State{Done: done, names: g.disk.survived(masks[c.names]), files: files[c.data]}
		g.tally.Tried++
		sum := s.sum()
		if g.seen[sum] {
			continue
		}
		g.seen[sum] = true
		g.tally.States++
		room--
		s.text = g.describe(done, policies[c.data].name, masks[c.names])
		if !yield(s, nil) {
			return false
		}
	}
	return true
}

// combine returns all pairs: first the extremes, then the extremes of data
// with all names, then the others, each group shuffled.
func combine(policies, masks int, rng *rand.Rand) []combo {
	var list []combo
	for d := range policies {
		for n := range masks {
			rank := 2
			if d < 2 {
				rank = min(n/2, 1)
			}
			list = append(list, combo{d, n, rank})
		}
	}
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	slices.SortStableFunc(list, func(a, b combo) int { return a.rank - b.rank })
	return list
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
