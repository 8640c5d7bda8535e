//go:build !linux

package main

import (
	"errors"
	"os"
	"time"
)

var started = time.Now()

// processorTime returns the time of the clock: only Linux is asked for more.
func processorTime() time.Duration { return time.Since(started) }

// peakMemory returns 0: only Linux is asked.
func peakMemory() float64 { return 0 }

// dataSync makes the content of f durable.
func dataSync(f *os.File) error { return f.Sync() }

// statAll reads the names in a directory and asks about each.
func statAll(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	infos, err := dir.Readdir(-1)
	if len(infos) == 0 {
		err = errors.Join(err, errEmpty)
	}
	return errors.Join(err, dir.Close())
}
