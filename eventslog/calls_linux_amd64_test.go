package eventslog

import (
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/test/cost"
)

// TestCalls compares how many system calls the operations make with
// testdata/calls.txt.
func TestCalls(t *testing.T) {
	cost.CheckCalls(t, "testdata/calls.txt", limitRuns, func() []cost.Operation { return limited(t) })
}
