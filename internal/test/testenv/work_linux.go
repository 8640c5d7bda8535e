package testenv

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Work runs f and returns how long a processor worked on it. Other work of the machine adds
// nothing to that, nor do waits of f, nor its goroutines.
func Work(t testing.TB, f func()) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := threadTime(t)
	f()
	return threadTime(t) - begin
}

func threadTime(t testing.TB) time.Duration {
	t.Helper()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		t.Fatal(err)
	}
	return time.Duration(now.Nano())
}
