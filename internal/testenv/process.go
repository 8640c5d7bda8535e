package testenv

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// A Child is what a test's program does in a process of its own, in a
// directory.
type Child func(dir, argument string) error

// What a child is told.
const (
	nameVariable     = "TESTENV_CHILD"
	argumentVariable = "TESTENV_CHILD_ARGUMENT"
)

// Main is for TestMain. It keeps the tests from sharing state with the tools of
// whoever runs them, and in a process that [Spawn] started it runs the child
// in their place.
func Main(m *testing.M, children map[string]Child) {
	if name := os.Getenv(nameVariable); name != "" {
		os.Exit(runChild(children[name]))
	}
	state, err := os.MkdirTemp("", "test-state-")
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
		return 1
	}
	return 0
}

// A Process is a running child.
type Process struct {
	cmd *exec.Cmd
	in  io.Closer
	out *bufio.Scanner
}

// Spawn starts the child of that name, which [Main] has, in a process of its
// own. The end of the test kills it.
func Spawn(t testing.TB, name, dir, argument string) *Process {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, dir)
	cmd.Env = append(os.Environ(), nameVariable+"="+name, argumentVariable+"="+argument)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &Process{cmd: cmd, in: in, out: bufio.NewScanner(out)}
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

// KillAfter kills the child once that time has passed.
func (p *Process) KillAfter(d time.Duration) {
	time.AfterFunc(d, func() { _ = p.cmd.Process.Kill() }) // it may be gone already
}

// Kill ends the child at once, and returns when it is gone.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may be gone already
	_ = p.cmd.Wait()
}

// End lets the child come to its end by itself and returns what it prints.
func (p *Process) End(t testing.TB) []string {
	t.Helper()
	var lines []string
	for p.out.Scan() {
		lines = append(lines, p.out.Text())
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("child: %v", err)
	}
	_ = p.in.Close() // Wait may have closed it
	return lines
}

// KillRounds returns how many children a test is to kill.
func KillRounds() int {
	if Thorough() {
		return 100
	}
	return 30
}
