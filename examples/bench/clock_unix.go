//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime returns how long processors have worked for this process, in
// its own code and in the system.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
