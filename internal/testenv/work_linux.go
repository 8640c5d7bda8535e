package testenv

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Work runs f and returns how long a processor worked on it. What else the
// machine does adds nothing to that, nor what f waits for, nor its goroutines.
func Work(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := threadTime()
	f()
	return threadTime() - begin
}

func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err) // there is no Linux without that clock
	}
	return time.Duration(t.Nano())
}
