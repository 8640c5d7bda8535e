//go:build unix && !linux

package main

import (
	"runtime"
	"syscall"
)

// peakMemory returns the peak resident memory of this process in MiB.
func peakMemory() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return float64(usage.Maxrss) / (1 << 20) // bytes there, KiB elsewhere
	}
	return float64(usage.Maxrss) / (1 << 10)
}
