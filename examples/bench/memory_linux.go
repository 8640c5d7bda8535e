package main

import (
	"bufio"
	"fmt"
	"os"
)

// peakMemory returns the peak resident memory of this process in MiB. getrusage would mix
// it with the memory of the program that started it.
func peakMemory() float64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		kib := 0
		if n, _ := fmt.Sscanf(lines.Text(), "VmHWM: %d kB", &kib); n == 1 {
			return float64(kib) / (1 << 10)
		}
	}
	return 0
}
