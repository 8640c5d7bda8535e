package testenv

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
)

// KillRounds returns how many children a test is to kill.
func KillRounds() int { return Share(4, 6, 67) }

// A Victim is a child that works until it is killed, and prints its work line by line.
// Stores that it opens have a [KillPoint].
type Victim struct {
	Name, Dir, Argument string   // as for [Spawn]
	Env                 []string // further variables

	Rounds       int                    // how many such children die
	Operations   int                    // it dies before one of so many operations
	First        int                    // in the last round so many come before these, and something is acknowledged
	Within       time.Duration          // or so long, at most, after a line
	Acknowledges func(line string) bool // the lines that report that something is done; nil: all
}

// Kill runs the child until it is dead and gives each of its lines to hear. It fails t
// when the child ends by itself. Random numbers decide before which operation the child
// dies. Where [Long] holds, every second round, from 0, ends after a time instead, in the
// midst of anything: counted from the child's first line, or in every fourth round, from 0,
// from the first that acknowledges something.
func (v Victim) Kill(t testing.TB, round int, r *rand.Rand, hear func(line string)) {
	t.Helper()
	at, after := 1+r.IntN(v.Operations), time.Duration(r.Int64N(int64(v.Within)))
	if round == v.Rounds-1 {
		at += v.First
	}
	timed := Long() && round%2 == 0
	if timed {
		at = 0
	}
	p := Spawn(t, v.Name, v.Dir, v.Argument, append(v.Env, KillAt(at))...)
	for line, ok := p.Line(); ok; line, ok = p.Line() {
		hear(line)
		if timed && (round%4 == 2 || v.Acknowledges == nil || v.Acknowledges(line)) {
			timed = false
			time.AfterFunc(after, p.KillNow)
		}
	}
	if p.Wait(); !p.wasKilled() {
		t.Errorf("round %d: the child ended by itself: %s", round, &p.errors)
	}
}

// KillAt returns the environment entry by which the [KillPoint] of a child kills it
// before its nth operation on the disk; with n 0 it does not.
func KillAt(n int) string { return fmt.Sprintf("%s=%d", killVariable, n) }

// KillPoint returns a seam for the stores that a child opens. It counts all operations of
// the child on the disk and kills the process, as kill -9 does, before the operation that
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

// operations counts the operations that all seams of this process saw.
var operations atomic.Int64
