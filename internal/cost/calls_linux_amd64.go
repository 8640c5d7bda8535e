package cost

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// tracedVariable tells the process of a test that its system calls are counted.
const tracedVariable = "COST_TRACED"

// named begins the line by which a traced process tells what it does next.
const named = "operation "

// CheckCalls runs the calling test once more in a process of its own and
// counts the system calls of its operations there, whatever makes them. It
// fails t when there are more than the file allows, or so few that the limit
// no longer guards anything. Calls of the Go runtime for itself do not count.
// prepare is called in that process alone; each operation is done so many
// times.
func CheckCalls(t *testing.T, file string, runs int, prepare func() []Operation) {
	t.Helper()
	if os.Getenv(tracedVariable) != "" {
		for _, o := range prepare() {
			fmt.Println(named + o.Name)
			mark()
			for range runs {
				if err := o.Do(); err != nil {
					t.Fatal(err)
				}
			}
			mark()
		}
		return
	}
	out, counts, err := trace("-test.run=^" + t.Name() + "$")
	if err != nil {
		t.Fatalf("count system calls: %v\n%s", err, out)
	}
	names := operations(out)
	if len(names) == 0 || len(names) != len(counts) {
		t.Fatalf("%d operations and %d counts\n%s", len(names), len(counts), out)
	}
	got := Calls{}
	for i, name := range names {
		got[name] = float64(counts[i]) / float64(runs)
	}
	limits, err := readCalls(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := limits.Over(got); err != nil {
		t.Errorf("%v\nall figures, for %s:\n%v", err, file, got)
	}
}

func operations(out []byte) []string {
	var names []string
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), named); ok {
			names = append(names, name)
		}
	}
	return names
}

// mark makes the system call that tells the tracer where an operation begins
// and ends. Nothing else in a test asks for the parent.
func mark() { unix.Getppid() }

// marker is the number of that call.
const marker = unix.SYS_GETPPID

// ofRuntime are the calls that the Go runtime makes for itself: for memory,
// threads, signals and time. How many depends on chance.
var ofRuntime = map[uint64]bool{
	unix.SYS_FUTEX: true, unix.SYS_NANOSLEEP: true, unix.SYS_CLOCK_NANOSLEEP: true, unix.SYS_SCHED_YIELD: true,
	unix.SYS_MADVISE: true, unix.SYS_MMAP: true, unix.SYS_MUNMAP: true, unix.SYS_MPROTECT: true, unix.SYS_PRCTL: true,
	unix.SYS_EPOLL_PWAIT: true, unix.SYS_EPOLL_PWAIT2: true, unix.SYS_TGKILL: true, unix.SYS_GETPID: true, unix.SYS_GETTID: true,
	unix.SYS_RT_SIGRETURN: true, unix.SYS_RT_SIGPROCMASK: true, unix.SYS_SIGALTSTACK: true, unix.SYS_CLONE: true, unix.SYS_CLONE3: true,
	unix.SYS_RSEQ: true, unix.SYS_SET_ROBUST_LIST: true, unix.SYS_EXIT: true, unix.SYS_RESTART_SYSCALL: true,
	unix.SYS_TIMER_CREATE: true, unix.SYS_TIMER_SETTIME: true, unix.SYS_TIMER_DELETE: true, unix.SYS_SETITIMER: true,
}
