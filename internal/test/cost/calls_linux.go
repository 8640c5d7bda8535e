package cost

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// CheckCalls runs the calling test once more under strace, and counts the system calls
// of its operations there. It fails t when there are more than the file allows, or so few
// that the limit no longer guards anything. It leaves the test to the soak. prepare is
// called in the traced process alone, and each operation is done so many times there.
func CheckCalls(t *testing.T, file string, runs int, prepare func() []Operation) {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("soak: the limits are of amd64")
	}
	const traced = "COST_TRACED"
	if os.Getenv(traced) != "" {
		for _, o := range prepare() {
			_, _ = os.Stat(place + o.Name)
			for range runs {
				if err := o.Do(); err != nil {
					t.Fatal(err)
				}
			}
			_, _ = os.Stat(place)
		}
		return
	}
	log := filepath.Join(t.TempDir(), "strace")
	cmd := exec.CommandContext(t.Context(), testenv.Strace(t), "-f", "-qq", "-s", "200", "-o", log, os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), traced+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	trace, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, all := counted(trace, runs), "# operation calls\n"
	for _, name := range slices.Sorted(maps.Keys(got)) {
		limit := -1.0
		if found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (.*)$`).FindSubmatch(text); found != nil {
			_, _ = fmt.Sscan(string(found[1]), &limit)
		}
		// The runtime makes a call now and then that looks like the program's.
		if n := got[name]; n > limit*1.05+1 || n < limit*0.9-2 {
			t.Errorf("%s: %.1f system calls, the limit is %.1f", name, n, limit)
		}
		all += fmt.Sprintf("%s %.1f\n", name, got[name])
	}
	if bytes.Count(text, []byte("\n")) != len(got)+1 {
		t.Errorf("%s has limits of operations that are not measured", file)
	}
	if t.Failed() {
		t.Logf("all figures, for %s:\n%s", file, all)
	}
}

// place is the folder, which does not exist, where the traced process looks for the name
// of an operation as that begins, and for nothing as it ends.
const place = "/operation/"

var (
	begins = regexp.MustCompile(`"` + place + `([^"]*)"`)
	call   = regexp.MustCompile(`^\d+ +(\w+)\(`)
	// ofRuntime are the calls that the Go runtime makes for itself: for memory, threads,
	// signals and time. How many depends on chance.
	ofRuntime = regexp.MustCompile(`^(futex|.*nanosleep|sched_\w+|madvise|mmap|munmap|mprotect|prctl|epoll_p?wait2?|tgkill|get[pt]id|` +
		`rt_sig\w+|sigaltstack|clone3?|rseq|set_robust_list|exit|restart_syscall|timer_\w+|setitimer)$`)
)

// counted returns the system calls of a trace by the operation, for one run of it.
func counted(trace []byte, runs int) map[string]float64 {
	counts, operation := map[string]float64{}, ""
	for lines := bufio.NewScanner(bytes.NewReader(trace)); lines.Scan(); {
		if found := begins.FindStringSubmatch(lines.Text()); found != nil {
			if operation = found[1]; operation != "" {
				counts[operation] = 0
			}
		} else if made := call.FindStringSubmatch(lines.Text()); made != nil && operation != "" && !ofRuntime.MatchString(made[1]) {
			counts[operation] += 1 / float64(runs)
		}
	}
	return counts
}
