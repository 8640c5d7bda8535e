package testenv

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// Strace returns the path of strace, which must be installed and may trace.
// Without it the test is skipped, or fails, as by [Need]. It leaves the test to the
// soak, as by [Soak].
func Strace(t testing.TB) string {
	t.Helper()
	Soak(t, "it needs strace")
	path, err := exec.LookPath("strace")
	Need(t, err == nil, "strace is not installed")
	out, err := exec.CommandContext(t.Context(), path, "-o", "/dev/null", "true").CombinedOutput()
	Need(t, err == nil, fmt.Sprintf("strace cannot trace: %s", out))
	return path
}

// An Injection is a change that strace makes to some system calls of each thread. Threads
// count the calls apart.
type Injection struct {
	Calls string // as strace names them, with commas between
	What  string // "error=EIO", "delay_enter=700:delay_exit=300"; times are in microseconds
	When  string // "3+7": at the third call, and at each seventh after it; empty: at each
}

// String returns the injection as strace takes it.
func (i Injection) String() string {
	if i.When == "" {
		return i.Calls + ":" + i.What
	}
	return i.Calls + ":" + i.What + ":when=" + i.When
}

// Arguments returns the arguments of strace that make these injections, in all threads and
// children of the traced process.
func Arguments(injections ...Injection) []string {
	args := []string{"-f", "-o", "/dev/null"}
	var calls []string
	for _, i := range injections {
		args = append(args, "-e", "inject="+i.String())
		calls = append(calls, i.Calls)
	}
	return append(args, "-e", "trace="+strings.Join(calls, ","))
}

// RandomDelays returns delays of up to 2 ms of some calls by which files are
// written and locked, at some of these calls.
func RandomDelays(r *rand.Rand) (delays []Injection) {
	calls := []string{"renameat2", "/^rename", "openat", "fsync,fdatasync", "fcntl", "flock"}
	for range 1 + r.IntN(3) {
		delays = append(delays, Injection{
			Calls: calls[r.IntN(len(calls))],
			What:  fmt.Sprintf("delay_enter=%d:delay_exit=%d", 1+r.IntN(1000), 1+r.IntN(1500)),
			When:  fmt.Sprintf("%d+%d", 1+r.IntN(5), 2+r.IntN(6)),
		})
	}
	return delays
}

// Delayed runs a test of this program again, in a process of its own, with that seed and
// with delays in its calls of the system and in its children's. args are further arguments
// of the program. It returns the output of the test.
func Delayed(t testing.TB, test string, seed uint64, delays []Injection, args ...string) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	all := append(Arguments(delays...), "--seccomp-bpf", "-qq", program, "-test.v", "-test.run=^"+test+"$")
	cmd := exec.CommandContext(t.Context(), Strace(t), append(all, args...)...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", seedVariable, seed))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s with seed %d and %v: %v\n%s", test, seed, delays, err, out)
	}
	if !bytes.Contains(out, []byte("--- PASS: "+test)) {
		t.Fatalf("%s did not run: %s", test, out)
	}
	return string(out)
}

// LetTrace lets every process of this user trace this one, where the system
// allows it only to parents.
func LetTrace() {
	_ = unix.Prctl(unix.PR_SET_PTRACER, ^uintptr(0), 0, 0, 0) // other systems need no leave
}

// A Tracer is a strace that does something to the system calls of a process.
type Tracer struct {
	cmd  *exec.Cmd
	log  string
	said bytes.Buffer // the output of strace, once said is done
	wait sync.WaitGroup
	end  sync.Once
}

// Attach attaches a strace that makes these injections to the process pid, until
// [Tracer.Detach] or the end of the test. The process should have called
// [LetTrace].
func Attach(t testing.TB, pid int, injections ...Injection) *Tracer {
	t.Helper()
	tr := &Tracer{log: filepath.Join(t.TempDir(), "strace")}
	args := Arguments(injections...)
	args[2] = tr.log // in the place of /dev/null
	tr.cmd = exec.CommandContext(t.Context(), Strace(t), append(args, "-p", fmt.Sprint(pid))...)
	says, err := tr.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Detach)
	lines := bufio.NewReader(says)
	for attached := false; !attached; {
		line, err := lines.ReadString('\n')
		tr.said.WriteString(line)
		if err != nil {
			t.Fatalf("strace does not attach: %s", &tr.said)
		}
		attached = strings.Contains(line, " attached")
	}
	tr.wait.Go(func() { _, _ = io.Copy(&tr.said, lines) })
	return tr
}

// Detach lets the process go on as it is, if it is still there.
func (tr *Tracer) Detach() {
	tr.end.Do(func() {
		_ = tr.cmd.Process.Signal(unix.SIGTERM) // it may have ended with the process
		tr.wait.Wait()
		_ = tr.cmd.Wait() // it ends by the signal
	})
}

// Injected returns how often strace did something, once it was detached.
func (tr *Tracer) Injected(t testing.TB) int {
	t.Helper()
	log, err := os.ReadFile(tr.log)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(log, []byte("(INJECTED)")) + bytes.Count(log, []byte("(DELAYED)"))
}
