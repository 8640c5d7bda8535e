package testenv

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// A Child is what a test's program does in a process of its own, in a
// directory.
type Child func(dir, argument string) error

// What a child is told.
const (
	nameVariable     = "TESTENV_CHILD"
	argumentVariable = "TESTENV_CHILD_ARGUMENT"
)

// failed is the exit code of a child that ends with an error. Killed ones have -1, on
// Windows 1.
const failed = 3

// Main is for TestMain. It keeps the tests from sharing state with the tools of
// whoever runs them, lets more of them run at once, as [RunAtOnce] does, has the
// garbage collector run less, as [CollectLess] does, and in a process that [Spawn]
// started it runs the child in their place.
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
	told *bytes.Buffer // what it wrote to its standard error
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

// End lets the child come to its end by itself and returns what it prints. It fails t
// with the child's error when that ends with one.
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

// Retry makes a call again that ends in the error busy, for some minutes: with
// that, a writer tells that it did nothing because it got no lock. On a slow disk,
// the others may keep it for longer than a writer waits.
func Retry(busy error, call func() error) error {
	for range 30 {
		if err := call(); !errors.Is(err, busy) {
			return err
		}
	}
	return call()
}
