package hybrid

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	simSeed    = flag.Uint64("seed", 1, "first seed of TestSimulation; 0: a random one")
	simSeeds   = flag.Int("seeds", 0, "how many seeds TestSimulation tries; 0: 12 with CI set, else 4")
	simSteps   = flag.Int("steps", 70, "how many steps a seed of TestSimulation takes")
	simWeights = flag.String("weights", "", "what TestSimulation does how often, as in append=3,rewind=0")
	simOrder   = flag.Bool("order", true, "let TestSimulation compare the order of lists")
	simVerbose = flag.Bool("tell", false, "let TestSimulation tell each step")
)

// TestSimulation lets devices work on sessions as people do, with faults of
// the network and the account, crashes, other programs and lost bookkeeping.
// Time is virtual; what a seed does is the same each time, but for the jitter
// of retries and the order of goroutines.
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
				now := time.Now()
				synctest.Test(t, func(t *testing.T) {
					time.Sleep(time.Until(now)) // files have times of the kernel, which must not be ahead
					newWorld(t, seed, weights, &sum).run()
				})
			})
		}
	})
	fmt.Printf("simulation: %d seeds, %d records, lost %d, converged %d, %d reader checks, bad %d\n",
		seeds, sum.records.Load(), sum.lost.Load(), sum.converged.Load(), sum.checks.Load(), sum.bad.Load())
}

// simTally is what all seeds came to.
type simTally struct{ records, lost, converged, checks, bad atomic.Int64 }

func simSeedCount() int {
	if *simSeeds > 0 {
		return *simSeeds
	}
	return defaultSeeds()
}
