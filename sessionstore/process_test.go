//go:build unix

package sessionstore_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// argumentVariable holds what a child is told besides its directory.
const argumentVariable = "SESSIONSTORE_TEST_ARGUMENT"

// process is a child that runs beside the test, until it is killed or its
// input ends.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// spawn starts what children has under name. Its home, and where it looks for
// shared state, are below home. env are further variables.
func spawn(t *testing.T, name, dir, argument, home string, env ...string) *process {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), program, dir)
	cmd.Env = append(os.Environ(), childVariable+"="+name, argumentVariable+"="+argument, "TMPDIR="+home,
		"HOME="+home, "XDG_STATE_HOME="+home+"/state", "AMPLIFIER_HOME="+home+"/.amplifier", "AMPLIFIER_SESSION_STATE_HOME=")
	cmd.Env = append(cmd.Env, env...)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	p := &process{cmd: cmd, in: in, out: bufio.NewScanner(out)}
	require.NoError(t, cmd.Start())
	t.Cleanup(p.kill)
	return p
}

// line returns the next line that the child prints.
func (p *process) line(t *testing.T) string {
	t.Helper()
	require.True(t, p.out.Scan(), "the child ended")
	return p.out.Text()
}

// killNow kills the child and does not wait for its end.
func (p *process) killNow() {
	_ = p.cmd.Process.Kill() // it may be gone already
}

// kill ends the child at once, and returns when it is gone.
func (p *process) kill() {
	p.killNow()
	_ = p.cmd.Wait()
}

// end lets the child end by itself.
func (p *process) end(t *testing.T) {
	t.Helper()
	require.NoError(t, p.in.Close())
	for p.out.Scan() {
		t.Log(p.out.Text())
	}
	require.NoError(t, p.cmd.Wait())
}

// orphaned ends the child when its parent is gone.
func orphaned() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
}
