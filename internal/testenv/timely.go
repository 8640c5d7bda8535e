package testenv

import (
	"testing"
	"time"
)

// Timely judges a promise in seconds in which the kernel or another process has a
// part. Where [Long] holds, it fails t when what took longer than the limit. Elsewhere
// it only logs that: a busy machine is late with everything.
func Timely(t testing.TB, what string, took, limit time.Duration) {
	t.Helper()
	t.Logf("%s took %v; the limit is %v", what, took.Round(time.Microsecond), limit)
	if took > limit && Long() {
		t.Errorf("%s took %v, longer than %v", what, took, limit)
	}
}
