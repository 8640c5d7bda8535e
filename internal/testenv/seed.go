package testenv

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// seedVariable names the environment variable that repeats random tests.
const seedVariable = "TEST_SEED"

// Seed returns the seed of a random test: a new one in each run, or that of the
// environment variable TEST_SEED. The log of the test has it, so that a failure
// can be repeated.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(rand.Uint32())
	if text := os.Getenv(seedVariable); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
	}
	t.Logf("%s=%d", seedVariable, seed)
	return seed
}

// Rand returns random numbers that [Seed] begins.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(Seed(t), 1))
}
