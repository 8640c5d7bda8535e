package sessionstore_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

var stracedFlag = flag.Int("straced", 0, "how often TestWritersAtOnceDelayed repeats its test; 0: 40 with TEST_LONG set, else once")

// stracedRuns returns how often a test is repeated under strace.
func stracedRuns() int {
	switch {
	case *stracedFlag > 0:
		return *stracedFlag
	case testenv.Long():
		return 40
	}
	return 1
}

// TestWritersAtOnceDelayed repeats TestWritersAtOnceWithoutLocks under strace,
// which delays some system calls of both writers: so they come between each
// other's steps where they hardly ever do at full speed, also at steps that the
// seam does not see. Times are in microseconds.
func TestWritersAtOnceDelayed(t *testing.T) {
	t.Parallel()
	testenv.Strace(t)
	rows := testenv.Share(40, 40, 0)
	type delayed struct {
		name, calls, times string
		share              int // of the repetitions: one in so many
	}
	for _, delay := range testenv.Some(t, 1, []delayed{
		{"renameat2", "renameat2", "delay_enter=700:delay_exit=1500", 1},
		{"rename", "/^rename", "delay_enter=300:delay_exit=700", 5},
		{"openat", "openat", "delay_enter=100:delay_exit=300", 5},
		{"fcntl", "fcntl", "delay_enter=100:delay_exit=200", 5},
	}...) {
		t.Run(delay.name, func(t *testing.T) {
			t.Parallel()
			r := testenv.Rand(t)
			for range max(1, stracedRuns()/delay.share) {
				out := testenv.Delayed(t, "TestWritersAtOnceWithoutLocks", r.Uint64(), []testenv.Injection{{Calls: delay.calls, What: delay.times}}, fmt.Sprint("-rows=", rows))
				require.Contains(t, out, "lost by the tool's saves", "the test ran")
			}
		})
	}
}
