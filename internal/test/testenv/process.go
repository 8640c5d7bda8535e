package testenv

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
)

// A Child is a function that a test's program runs in a process of its own, in a directory.
type Child func(dir, argument string) error

// The variables that a child gets.
const (
	nameVariable     = "TESTENV_CHILD"
	argumentVariable = "TESTENV_CHILD_ARGUMENT"
)

// failed is the exit code of a child that ends with an error. Killed ones have -1, on
// Windows 1.
const failed = 3

// Main is for TestMain. It keeps the tests from sharing state with the tools of the user
// that runs them, lets more of them run at once, as [RunAtOnce] does, has the garbage
// collector run less, as [CollectLess] does, and in a process that [Spawn] started it runs
// the child in their place.
func Main(m *testing.M, children map[string]Child) {
	if name := os.Getenv(nameVariable); name != "" {
		os.Exit(runChild(children[name]))
	}
	CollectLess()
	err := RunAtOnce(6)
	state := ""
	if err == nil {
		state, err = os.MkdirTemp("", "test-state-")
	}
	if err == nil {
		err = os.Setenv("AMPLIFIER_SESSION_STATE_HOME", state)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	code := m.Run()
	if err := os.RemoveAll(state); err != nil {
		fmt.Println(err)
		code = 1
	}
	os.Exit(code)
}

// runChild runs a child, which ends when its parent is gone.
func runChild(child Child) int {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	if err := child(os.Args[len(os.Args)-1], os.Getenv(argumentVariable)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return failed
	}
	return 0
}

// A Process is a running child.
type Process struct {
	cmd  *exec.Cmd
	in   io.Closer
	out  *bufio.Scanner
	told *bytes.Buffer // its standard error
}

// Spawn starts the child of that name, which [Main] has, in a process of its
// own. The end of the test kills it.
func Spawn(t testing.TB, name, dir, argument string) *Process {
	t.Helper()
	return spawn(t, name, dir, argument, KillAt(0))
}

func spawn(t testing.TB, name, dir, argument, killAt string) *Process {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, dir)
	cmd.Env = append(os.Environ(), nameVariable+"="+name, argumentVariable+"="+argument, killAt)
	told := &bytes.Buffer{}
	cmd.Stderr = io.MultiWriter(os.Stderr, told)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &Process{cmd: cmd, in: in, out: bufio.NewScanner(out), told: told}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// Line returns the next line that the child prints, and false at its end.
func (p *Process) Line() (string, bool) {
	if !p.out.Scan() {
		return "", false
	}
	return p.out.Text(), true
}

// KillNow kills the child and does not wait for its end.
func (p *Process) KillNow() {
	_ = p.cmd.Process.Kill() // it may be gone already
}

// Kill ends the child at once, and returns when it is gone.
func (p *Process) Kill() {
	p.KillNow()
	_ = p.cmd.Wait()
}

// End lets the child come to its end by itself and returns the lines that it prints. It
// fails t with the child's error when that ends with one.
func (p *Process) End(t testing.TB) []string {
	t.Helper()
	var lines []string
	for p.out.Scan() {
		lines = append(lines, p.out.Text())
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("child: %v: %s", err, p.told)
	}
	_ = p.in.Close() // Wait may have closed it
	return lines
}

// Retry makes a call again that ends in the error busy, for some minutes: with that error,
// a writer reports that it did nothing because it got no lock. On a slow disk, the others
// may keep it for longer than a writer waits.
func Retry(busy error, call func() error) error {
	for range 30 {
		if err := call(); !errors.Is(err, busy) {
			return err
		}
	}
	return call()
}

// KillRounds returns how many children a test is to kill.
func KillRounds() int { return Share(4, 6, 67) }

// A Victim is a child that works until it is killed, and prints its work line by line.
// Stores that it opens have a [KillPoint].
type Victim struct {
	Name, Dir, Argument string // as for [Spawn]

	Rounds       int                    // how many such children die
	Operations   int                    // it dies before one of so many operations
	First        int                    // in the last round so many come before these, and something is acknowledged
	Within       time.Duration          // or so long, at most, after a line
	Acknowledges func(line string) bool // the lines that report that something is done
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
	soon  bool          // any line; else a line that acknowledges something
	heard bool          // the time runs
}

// Hear takes each line of a child. It has kill called once the child's time is over, if it
// has one.
func (d *Death) Hear(acknowledges bool, kill func()) {
	if d.At > 0 || d.heard || !d.soon && !acknowledges {
		return
	}
	d.heard = true
	time.AfterFunc(d.after, kill)
}

// killVariable is set to the number of the operation before which a child dies.
const killVariable = "TESTENV_KILL_AT"

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
