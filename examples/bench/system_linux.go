package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
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

// dataSync makes the content of f durable.
func dataSync(f *os.File) error {
	defer runtime.KeepAlive(f)
	return unix.Fdatasync(int(f.Fd()))
}

// statAll reads the names in a directory and asks about each.
func statAll(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	names, err := dir.Readdirnames(-1)
	var at unix.Stat_t
	for _, name := range names {
		err = errors.Join(err, unix.Fstatat(int(dir.Fd()), name, &at, 0))
	}
	return errors.Join(err, dir.Close())
}
