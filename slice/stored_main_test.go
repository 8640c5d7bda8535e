package slice_test

import (
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// children are the functions that the test's program runs in processes of their own.
// Not every system has all.
var children = map[string]testenv.Child{"changes": changeUntilKilled}

func TestMain(m *testing.M) {
	testenv.InMemory()
	testenv.Main(m, children)
}
