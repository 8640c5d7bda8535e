package testenv

import (
	"fmt"
	"os"
	"strconv"
	"sync/atomic"

	"github.com/amplifier-go/sessionstorage/internal/seam"
)

// killVariable tells a child before which of its operations it dies.
const killVariable = "TESTENV_KILL_AT"

// KillAt returns the environment entry by which the [KillPoint] of a child kills it
// before its nth operation on the disk; with n 0 it does not.
func KillAt(n int) string { return fmt.Sprintf("%s=%d", killVariable, n) }

// KillPoint returns a seam for what a child opens. It counts all operations of the
// child on the disk and kills the process, as kill -9 does, before the one that
// [KillAt] names. Unlike a kill after a time, that can be repeated.
func KillPoint() *seam.Seam {
	at, _ := strconv.ParseInt(os.Getenv(killVariable), 10, 64) // not set: never
	return &seam.Seam{Before: func(seam.Op) error {
		if operations.Add(1) == at {
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Kill()
			}
			select {} // the kill takes a moment
		}
		return nil
	}}
}

// operations counts what all seams of this process saw.
var operations atomic.Int64
