package eventslog

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// childVariable asks the test's program to be a child of a test instead.
const childVariable = "EVENTSLOG_TEST_CHILD"

// children are what the test's program does instead of testing. Each is given
// its argument, and ends when its input does.
var children = map[string]func(argument []byte) error{
	"appender": appenderChild,
	"reader":   readerChild,
}

func TestMain(m *testing.M) {
	child, ok := children[os.Getenv(childVariable)]
	if !ok {
		testenv.CollectLess()
		os.Exit(m.Run())
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // the parent is gone, or wants no more
		os.Exit(0)
	}()
	if err := child([]byte(os.Args[len(os.Args)-1])); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// process is a child that runs beside the test.
type process struct {
	cmd *exec.Cmd
	out *bufio.Scanner
}

// spawn starts one of the children.
func spawn(t testing.TB, name string, argument any, env ...string) *process {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	arg, err := json.Marshal(argument)
	require.NoError(t, err)
	return start(t, append(env, childVariable+"="+name), program, string(arg))
}

// start starts a program.
func start(t testing.TB, env []string, program string, args ...string) *process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(os.Environ(), env...)
	_, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	p := &process{cmd: cmd, out: bufio.NewScanner(out)}
	require.NoError(t, cmd.Start())
	t.Cleanup(p.kill)
	return p
}

// line returns the next line that the child prints.
func (p *process) line(t testing.TB) string {
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

// seeded returns random numbers whose seed is logged.
func seeded(t testing.TB) *rand.Rand { return testenv.Rand(t) }
