package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// gateRuns reports whether a gate runs on this machine. Each .ci/run holds a shared
// lock on a file while it runs. A file that cannot be read or locked stops nothing.
func (s *soak) gateRuns() bool {
	f, err := os.Open(filepath.Join(s.state, "gate.lock"))
	if err != nil {
		return false
	}
	defer f.Close() // gives the lock back
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// awaitGate returns when no gate runs, or ctx is done.
func (s *soak) awaitGate(ctx context.Context) {
	if s.gateRuns() {
		fmt.Fprintln(s.out, "a gate runs: waiting")
	}
	for s.gateRuns() && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(s.poll):
		}
	}
}
