//go:build unix

package sessionstore

import (
	"syscall"
	"time"
)

// processorTime returns what this process has used, 0 where the system does
// not tell.
func processorTime() time.Duration {
	var use syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &use) != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
