package testenv

import (
	"math/rand/v2"
	"testing"
	"time"
)

// KillRounds returns how many children a test is to kill.
func KillRounds() int { return Share(4, 6, 67) }

// A Victim is a child that works until it is killed, and tells what it does line by
// line. What it opens has a [KillPoint].
type Victim struct {
	Name, Dir, Argument string // as for [Spawn]

	Rounds       int                    // how many such children die
	Operations   int                    // it dies before one of so many operations
	First        int                    // in the last round so many come before these, and something is acknowledged
	Within       time.Duration          // or so long, at most, after a line
	Acknowledges func(line string) bool // the lines that tell that something is done
}

// Kill runs the child until it is dead and gives each of its lines to hear. It fails t
// when the child ends by itself.
func (v Victim) Kill(t testing.TB, round int, r *rand.Rand, hear func(line string)) {
	t.Helper()
	d := v.Death(round, r)
	p := spawn(t, v.Name, v.Dir, v.Argument, KillAt(d.At))
	for line, ok := p.Line(); ok; line, ok = p.Line() {
		hear(line)
		d.Hear(d.At == 0 && v.Acknowledges(line), p.KillNow)
	}
	p.Kill()
	if code := p.cmd.ProcessState.ExitCode(); code != -1 && code != 1 {
		t.Errorf("round %d: the child ended by itself: %s", round, p.told)
	}
}

// Death decides by random numbers how the child dies in that round: before an operation
// that is counted. Where [Long] holds, every second round, from 0, ends after a time
// instead, in the midst of anything: counted from the child's first line, or in every
// fourth round, from 0, from the first that acknowledges something. [Victim.Kill] does
// that; a test with children of its own takes [KillAt] and [Death.Hear].
func (v Victim) Death(round int, r *rand.Rand) *Death {
	d := &Death{At: 1 + r.IntN(v.Operations), after: time.Duration(r.Int64N(int64(v.Within)))}
	if round == v.Rounds-1 {
		d.At += v.First
	}
	if Long() && round%2 == 0 {
		d.At, d.soon = 0, round%4 == 2
	}
	return d
}

// A Death is how a child dies.
type Death struct {
	At int // before that operation; 0: after a time

	after time.Duration // that long after a line
	soon  bool          // any line; else one that acknowledges something
	heard bool          // the time runs
}

// Hear is told of each line of a child. It has kill called once the child's time is
// over, if it has one.
func (d *Death) Hear(acknowledges bool, kill func()) {
	if d.At > 0 || d.heard || !d.soon && !acknowledges {
		return
	}
	d.heard = true
	time.AfterFunc(d.after, kill)
}
