package hybrid

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/testenv"
)

var (
	simSeed    = flag.Uint64("seed", 1, "first seed of TestSimulation; 0: a random one")
	simSeeds   = flag.Int("seeds", 0, "how many seeds TestSimulation tries; 0: 50 with CI set, else 4, or 2 with -short")
	simSteps   = flag.Int("steps", 70, "how many steps a seed of TestSimulation takes")
	simWeights = flag.String("weights", "", "what TestSimulation does how often, as in append=3,rewind=0")
	simOrder   = flag.Bool("order", true, "let TestSimulation compare the order of lists")
	simVerbose = flag.Bool("tell", false, "let TestSimulation tell each step")
)

// simStart is when a seed begins: after all times that the kernel gives files.
var simStart = time.Date(2050, 1, 1, 0, 0, 0, 0, time.UTC)

// TestSimulation lets devices work on sessions as people do, with faults of
// the network and the account, crashes, power cuts, other programs and lost
// bookkeeping. Time is virtual, and what a seed does is the same each time.
func TestSimulation(t *testing.T) {
	weights, err := parseWeights(*simWeights)
	require.NoError(t, err)
	first := *simSeed
	if first == 0 {
		first = rand.Uint64N(1 << 32)
	}
	fmt.Printf("simulation: first seed %d\n", first)
	var sum simTally
	seeds := simSeedCount()
	t.Run("seeds", func(t *testing.T) {
		for i := range seeds {
			seed := first + uint64(i)
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				simulate(t, seed, weights, &sum, false)
			})
		}
	})
	fmt.Printf("simulation: %d seeds, %d records, lost %d, converged %d, %d reader checks, bad %d\n",
		seeds, sum.records.Load(), sum.lost.Load(), sum.converged.Load(), sum.checks.Load(), sum.bad.Load())
	if *simVerbose {
		fmt.Println("simulation:", sum.text())
	}
	if seeds >= 50 && *simWeights == "" {
		for _, s := range weights {
			require.Positive(t, sum.steps[s.name], "no seed did %q", s.name)
		}
	}
}

// TestSimulationRepeats runs seeds twice: they must do the same.
func TestSimulationRepeats(t *testing.T) {
	t.Parallel()
	weights, err := parseWeights(*simWeights)
	require.NoError(t, err)
	for i := range uint64(2) {
		if i > 0 && testing.Short() {
			return
		}
		seed := *simSeed + 1000 + i
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			first := simulate(t, seed, weights, &simTally{}, true)
			again := simulate(t, seed, weights, &simTally{}, true)
			for n := range min(len(first.lines), len(again.lines)) {
				require.Equal(t, first.lines[n], again.lines[n], "seed %d, line %d of the trace", seed, n)
			}
			require.Equal(t, first.sum.Sum(nil), again.sum.Sum(nil))
			require.Greater(t, len(first.lines), *simSteps)
		})
	}
}

// simulate runs one seed and returns what it did.
func simulate(t *testing.T, seed uint64, weights []simStep, sum *simTally, keep bool) (tr *trace) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(simStart))
		w := newWorld(t, seed, weights, sum)
		w.trace.keep, tr = keep, w.trace
		w.run()
	})
	return tr
}

// simTally is what all seeds came to.
type simTally struct {
	records, lost, converged, checks, bad atomic.Int64

	mu    sync.Mutex // guards steps
	steps map[string]int
}

func (s *simTally) did(step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.steps == nil {
		s.steps = map[string]int{}
	}
	s.steps[step]++
}

func (s *simTally) text() (text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(s.steps)) {
		text += fmt.Sprint(name, " ", s.steps[name], ", ")
	}
	return text
}

func simSeedCount() int {
	switch {
	case *simSeeds > 0:
		return *simSeeds
	case testenv.Thorough():
		return 50
	case testing.Short():
		return 2
	}
	return 4
}
