package sessionstore_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

var delayedFlag = flag.Int("delayed", 0, "how often TestDelayedCalls repeats each test; 0: once with TEST_LONG set, else one of them alone")

// TestDelayedCalls repeats tests of writers and kills with random delays in the
// calls of the system, in this process and in its children. So they come between
// each other's steps, and are killed there, where they hardly ever are at full
// speed.
func TestDelayedCalls(t *testing.T) {
	t.Parallel()
	testenv.Strace(t)
	kills := fmt.Sprint("-kills=", testenv.Share(2, 2, 6))
	rows := fmt.Sprint("-rows=", testenv.Share(25, 25, 0))
	tests := []struct {
		name string
		args []string
	}{
		{"TestKills", []string{kills}},
		{"TestWritersAtOnceWithoutLocks", []string{rows}},
		{"TestWritersAtOnceWithLocks", []string{rows}},
		{"TestManyProcesses", []string{rows}},
		{"TestSalvageKilled", []string{kills}},
	}
	r := testenv.Rand(t)
	r.Shuffle(len(tests), func(i, j int) { tests[i], tests[j] = tests[j], tests[i] })
	runs := 1
	switch {
	case *delayedFlag > 0:
		runs = *delayedFlag
	case testenv.Long():
		runs = 1
	default:
		tests = tests[:1]
	}
	for _, test := range tests {
		for range runs {
			delays, own := testenv.RandomDelays(r), r.Uint64()
			t.Run(fmt.Sprint(test.name, " ", delays), func(t *testing.T) {
				t.Parallel()
				testenv.Delayed(t, test.name, own, delays, test.args...)
			})
		}
	}
}
