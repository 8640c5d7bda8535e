//go:build !unix

package main

import "time"

// processorTime returns the time of the clock: this system does not report processor times
// in the same way.
func processorTime() time.Duration { return time.Since(started) }

var started = time.Now()
