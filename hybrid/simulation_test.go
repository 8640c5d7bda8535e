package hybrid

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

var (
	simSeeds   = flag.Int("seeds", 0, "how many seeds TestSimulation tries; 0: 9 with TEST_LONG set, else 3")
	simSteps   = flag.Int("steps", 0, "how many steps a seed of TestSimulation takes; 0: 70 with TEST_LONG set, else 40, or 20 where the remote is not cosmos")
	simWeights = flag.String("weights", "", "what TestSimulation does how often, as in append=3,rewind=0")
	simOrder   = flag.Bool("order", true, "let TestSimulation compare the order of lists")
	simRemote  = flag.String("remote", "", "the remote of TestSimulation: cosmos, memory or dir, or the address at which a test of another module serves one; by default the seed chooses")
	simVerbose = flag.Bool("tell", false, "let TestSimulation tell each step")
)

// simLevel is the account's level of consistency.
var simLevel = cosmostest.Session

func init() {
	flag.TextVar(&simLevel, "consistency", simLevel, "the account's level of consistency in TestSimulation")
}

// simStart is when a seed begins: after all times that the kernel gives files.
var simStart = time.Date(2050, 1, 1, 0, 0, 0, 0, time.UTC)

// TestSimulation lets devices work on sessions as people do, with faults of
// the network and the remote, crashes, power cuts, other programs and lost
// bookkeeping. Time is virtual, and what a seed does is the same each time. Of
// three seeds in a row each has another remote.
func TestSimulation(t *testing.T) {
	t.Parallel()
	weights, err := parseWeights(*simWeights)
	require.NoError(t, err)
	first := testenv.Seed(t)
	fmt.Printf("simulation: first seed %d\n", first)
	var sum simTally
	seeds := simSeedCount()
	t.Run("seeds", func(t *testing.T) {
		for i := range seeds {
			seed := first + uint64(i)
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				testenv.Repeat(t, seed, "-seeds=1")
				simulate(t, seed, remoteOf(seed), weights, &sum, false)
			})
		}
	})
	fmt.Printf("simulation: %d seeds, %d records, lost %d, converged %d, %d reader checks, bad %d, late %d\n",
		seeds, sum.records.Load(), sum.lost.Load(), sum.converged.Load(), sum.checks.Load(), sum.bad.Load(), sum.late.Load())
	if *simVerbose {
		fmt.Println("simulation:", sum.text())
	}
	if seeds >= 34 && *simWeights == "" && *simRemote == "" && os.Getenv("TEST_SEED") == "" { // what other seeds do is chance
		for _, s := range weights {
			require.Positive(t, sum.steps[s.name], "no seed did %q", s.name)
		}
		for _, promise := range []string{"write on while diverged", handedOver, oneStuck} {
			require.Positive(t, sum.steps[promise], "no seed looked at %q", promise)
		}
	}
}

// TestSimulationRepeats runs a seed twice. Both runs do the same: the same steps and
// requests, at the same times.
func TestSimulationRepeats(t *testing.T) {
	t.Parallel()
	weights, err := parseWeights(*simWeights)
	require.NoError(t, err)
	begin := testenv.Seed(t)
	for seed := begin; seed < begin+testenv.Share[uint64](1, 1, testenv.Further[uint64](3, 6)); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			first := simulate(t, seed, remoteOf(seed), weights, &simTally{}, true)
			again := simulate(t, seed, remoteOf(seed), weights, &simTally{}, true)
			for n := range min(len(first.lines), len(again.lines)) {
				from := max(0, n-5) // the lines before tell what both did last
				require.Equal(t, first.lines[from:n+1], again.lines[from:n+1], "seed %d, line %d of the trace", seed, n)
			}
			require.Equal(t, first.sum.Sum(nil), again.sum.Sum(nil))
			require.Greater(t, len(first.lines), simStepCount(remoteOf(seed)))
		})
	}
}

// remoteOf returns the remote of a seed.
func remoteOf(seed uint64) string {
	return cmp.Or(*simRemote, simPlaces[seed%uint64(len(simPlaces))])
}

// simulate runs one seed and returns what it did.
func simulate(t *testing.T, seed uint64, place string, weights []simStep, sum *simTally, keep bool) (tr *trace) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(simStart))
		w := newWorld(t, seed, place, weights, sum)
		w.length = simStepCount(place)
		w.trace.keep, tr = keep, w.trace
		w.run()
	})
	return tr
}

// simTally is what all seeds came to.
type simTally struct {
	records, lost, converged, checks, bad, late atomic.Int64

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

// simStepCount returns how many steps a seed takes.
func simStepCount(place string) int {
	switch {
	case *simSteps > 0:
		return *simSteps
	case place == "cosmos":
		return testenv.Share(40, 40, 70)
	}
	return testenv.Share(20, 20, 70)
}

func simSeedCount() int {
	if *simSeeds > 0 {
		return *simSeeds
	}
	return testenv.Share(3, 3, testenv.Further(9, 100))
}
