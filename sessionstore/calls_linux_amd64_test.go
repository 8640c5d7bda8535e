package sessionstore

import (
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/test/cost"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestCalls compares how many system calls the operations make with
// testdata/calls.txt.
func TestCalls(t *testing.T) {
	t.Parallel() // a process of its own makes them
	testenv.Soak(t, "it counts system calls; TestLimits guards what the store itself does")
	cost.CheckCalls(t, "testdata/calls.txt", limitRuns, func() []cost.Operation { return limited(t) })
}
