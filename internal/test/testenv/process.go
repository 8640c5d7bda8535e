package testenv

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A Child is a function that a test's program runs in a process of its own, in a directory.
type Child func(dir, argument string) error

// The variables that a child gets.
const (
	nameVariable     = "TESTENV_CHILD"
	argumentVariable = "TESTENV_CHILD_ARGUMENT"
	killVariable     = "TESTENV_KILL_AT" // the number of the operation before which it dies
)

// failed is the exit code of a child that ends with an error.
const failed = 3

// Main is for TestMain. It keeps the tests from sharing state, settings and histories with the
// tools of the user that runs them, as [Apart] does, lets more of them run at once, as [RunAtOnce] does, has the garbage
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
		err = Apart(state)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	code := m.Run()
	for _, dir := range []string{state, temporary} {
		if err := os.RemoveAll(dir); err != nil {
			fmt.Println(err)
			code = 1
		}
	}
	os.Exit(code)
}

// Apart gives this process, and those that it starts, a new home in the directory state, and state
// itself for what sessions share. Programs that build or install find what they keep for later
// where it was. Tools whose variable names a relative path have it from a test.
func Apart(state string) error {
	var err error
	home, noHome := os.UserHomeDir()
	cache, noCache := os.UserCacheDir()
	config, noConfig := os.UserConfigDir()
	if noHome == nil && noCache == nil && noConfig == nil { // else there is nothing kept
		for name, value := range map[string]string{
			"GOPATH": filepath.Join(home, "go"), "GOCACHE": filepath.Join(cache, "go-build"), "GOENV": filepath.Join(config, "go", "env"),
			"XDG_CACHE_HOME": cache, "NPM_CONFIG_USERCONFIG": filepath.Join(home, ".npmrc"), "NPM_CONFIG_CACHE": filepath.Join(home, ".npm"),
		} {
			if os.Getenv(name) == "" {
				err = errors.Join(err, os.Setenv(name, value))
			}
		}
	}
	for _, name := range []string{"AMPLIFIER_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "PI_CODING_AGENT_DIR", "XDG_DATA_HOME"} {
		if filepath.IsAbs(os.Getenv(name)) {
			err = errors.Join(err, os.Unsetenv(name))
		}
	}
	fresh := filepath.Join(state, "home")
	return errors.Join(err, os.MkdirAll(fresh, 0o700), os.Unsetenv("SESSIONS_REMOTE"), os.Setenv("HOME", fresh), os.Setenv("USERPROFILE", fresh),
		os.Setenv("AMPLIFIER_SESSION_STATE_HOME", state))
}

// temporary is the directory of [InMemory]; "": there is none.
var temporary string

// runChild runs a child, which ends when its parent is gone.
func runChild(child Child) int {
	go listen()
	if err := child(os.Args[len(os.Args)-1], os.Getenv(argumentVariable)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return failed
	}
	return 0
}

// noMore is the line by which a test says that it gives no more orders.
const noMore = "\x04"

var orders = make(chan string)

// Orders returns the lines that this child gets by [Process.Tell]. It is closed when the
// test waits for the child's end.
func Orders() <-chan string { return orders }

func listen() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() && lines.Text() != noMore {
		orders <- lines.Text()
	}
	close(orders)
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0) // the parent is gone
}

// A Process is a running child, or another program.
type Process struct {
	cmd    *exec.Cmd
	child  bool
	in     io.WriteCloser
	out    *bufio.Scanner
	said   []string     // the last lines of its output
	errors bytes.Buffer // its standard error, once it was waited for
	hang   *time.Timer
	hung   atomic.Bool // the timer killed it
}

// Spawn starts the child of that name, which [Main] has, in a process of its
// own, with further variables of its environment. The end of the test kills it.
func Spawn(t testing.TB, name, dir, argument string, env ...string) *Process {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, dir)
	cmd.Env = append(os.Environ(), nameVariable+"="+name, argumentVariable+"="+argument, killVariable+"=0")
	cmd.Env = append(cmd.Env, env...)
	p := Start(t, cmd)
	p.child = true
	return p
}

// Start starts a program that reads and writes lines. The end of the test kills it, and so
// does the moment before the limit of all tests, the flag -timeout: the program hangs then,
// and the test says what it printed.
func Start(t testing.TB, cmd *exec.Cmd) *Process {
	t.Helper()
	p := &Process{cmd: cmd}
	cmd.Stderr = io.MultiWriter(os.Stderr, &p.errors)
	out, err := cmd.StdoutPipe()
	if err == nil {
		p.out = bufio.NewScanner(out)
		p.out.Buffer(nil, 1<<30) // a line may be a whole transcript
		p.in, err = cmd.StdinPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	p.hang = time.AfterFunc(untilLimit(t), func() { p.hung.Store(true); p.KillNow() })
	t.Cleanup(func() {
		p.Kill()
		if p.hung.Load() {
			t.Errorf("the child hung after these lines: %s\n%s\n%s", cmd, strings.Join(p.said, "\n"), &p.errors)
		}
	})
	return p
}

// HoldInPython starts a program in Python that locks the file path, as the Python tools do,
// prints "locked", and holds the lock until its input ends. While another one holds the
// lock, it prints "busy" and ends.
func HoldInPython(t testing.TB, path string) *Process {
	t.Helper()
	const script = `
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
try:
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    print("busy", flush=True)
    sys.exit()
print("locked", flush=True)
sys.stdin.read()
`
	return Start(t, exec.CommandContext(t.Context(), Python(t), "-c", script, path))
}

// untilLimit returns how long a program may run.
func untilLimit(t testing.TB) time.Duration {
	if limited, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if limit, ok := limited.Deadline(); ok {
			left := time.Until(limit)
			return max(left/2, left-10*time.Second)
		}
	}
	return 24 * time.Hour
}

// PID returns the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Send sends a line to the child, as one of its [Orders].
func (p *Process) Send(line string) error {
	_, err := io.WriteString(p.in, line+"\n")
	return err
}

// Tell is like [Process.Send]. It fails t when the child is gone.
func (p *Process) Tell(t testing.TB, line string) {
	t.Helper()
	if err := p.Send(line); err != nil {
		p.Kill()
		t.Fatalf("the child takes no orders: %v: %s", err, &p.errors)
	}
}

// Line returns the next line that the child prints, and false at its end.
func (p *Process) Line() (string, bool) {
	if !p.out.Scan() {
		return "", false
	}
	const kept = 20
	p.said = append(p.said[max(0, len(p.said)-kept):], p.out.Text())
	return p.out.Text(), true
}

// Hear returns the next line that the child prints. It fails t at the child's end.
func (p *Process) Hear(t testing.TB) string {
	t.Helper()
	line, ok := p.Line()
	if !ok {
		p.Kill()
		t.Fatalf("the child ended: %s", &p.errors)
	}
	return line
}

// KillNow kills the child and does not wait for its end.
func (p *Process) KillNow() {
	_ = p.cmd.Process.Kill() // it may be gone already
}

// Kill ends the child at once, and returns when it is gone.
func (p *Process) Kill() {
	p.hang.Stop()
	p.KillNow()
	_ = p.cmd.Wait()
}

// Wait gives the child no more orders, lets it come to its end by itself, and returns the
// lines that it prints, and its exit code.
func (p *Process) Wait() (lines []string, code int) {
	if p.child {
		_, _ = io.WriteString(p.in, noMore+"\n") // it may be gone already
	} else {
		_ = p.in.Close()
	}
	for line, ok := p.Line(); ok; line, ok = p.Line() {
		lines = append(lines, line)
	}
	_ = p.cmd.Wait()  // the code says how it ended
	_ = p.in.Close()  // Wait may have closed it
	_ = p.hang.Stop() // it may be over
	return lines, p.cmd.ProcessState.ExitCode()
}

// End is like [Process.Wait]. It fails t with the child's error when that ends with one.
func (p *Process) End(t testing.TB) []string {
	t.Helper()
	lines, code := p.Wait()
	if code != 0 {
		t.Errorf("child: %v: %s", p.cmd.ProcessState, &p.errors)
	}
	return lines
}

// Killed is like [Process.End] for a child that may have been killed before its end, and
// reports whether it was.
func (p *Process) Killed(t testing.TB) (lines []string, killed bool) {
	t.Helper()
	lines, code := p.Wait()
	if killed = p.wasKilled(); code != 0 && !killed {
		t.Errorf("child: %v: %s", p.cmd.ProcessState, &p.errors)
	}
	return lines, killed
}

func (p *Process) wasKilled() bool {
	return p.cmd.ProcessState.String() == "signal: killed" || runtime.GOOS == "windows" && p.cmd.ProcessState.ExitCode() == 1
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
