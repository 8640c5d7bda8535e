// Package testenv adapts tests to the machine they run on. It is for tests alone.
package testenv

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Need skips the test with reason when cond is false. With the environment
// variable CI set the test fails instead, so that nothing goes unchecked there. CI
// means nothing else: it makes no test go further.
func Need(t testing.TB, cond bool, reason string) {
	t.Helper()
	if cond {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("may not be skipped with CI set: %s", reason)
	}
	t.Skip(reason)
}

// Soak skips the test unless [Long] holds: .ci/run leaves it to .ci/soak. The reason
// is that it takes long, or needs a tool or a server that few machines have.
func Soak(t testing.TB, reason string) {
	t.Helper()
	if !Long() {
		t.Skip("soak: " + reason + "; TEST_LONG=1 runs it")
	}
}

// Flaky skips the test unless [Long] holds, because it fails at times for no reason that is
// known. The entry is the heading in .ci/flaky.md under which its output is.
func Flaky(t testing.TB, entry string) {
	t.Helper()
	if !Long() {
		t.Skip("flaky: " + entry + " in .ci/flaky.md; TEST_LONG=1 runs it")
	}
}

// Long reports whether the tests that take long are to run, and random and
// exhaustive tests are to go far: the environment variable TEST_LONG is set, and
// the flag -short is not. .ci/soak sets it.
func Long() bool {
	return os.Getenv("TEST_LONG") != "" && !(flag.Parsed() && testing.Short())
}

// All reports whether [Long] holds and TEST_LONG is "all": tests leave nothing to
// chance. It takes hours.
func All() bool {
	return Long() && os.Getenv("TEST_LONG") == "all"
}

// Share returns how far a random or exhaustive test goes: short with the flag
// -short, long where [Long] holds, else usual.
func Share[T any](short, usual, long T) T {
	switch {
	case Long():
		return long
	case testing.Short():
		return short
	}
	return usual
}

// Further returns all where [All] holds, else long. It makes the long form of a test
// that costs too much to go all the way in each run of .ci/soak.
func Further[T any](long, all T) T {
	if All() {
		return all
	}
	return long
}

// Python returns the path of a python3 that runs. Without one the test is
// skipped, or fails, as by [Need].
func Python(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err == nil {
		path, err = interpreter()
	}
	Need(t, err == nil, "python3 is not installed, or does not run")
	return path
}

// interpreter returns the path of the interpreter itself. The python3 of the search
// path may be a script that looks for it, which takes longer than the start.
var interpreter = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	return strings.TrimSpace(string(out)), err
})

// RunAtOnce lets at least n parallel tests of this program run at once, for tests
// that mostly wait for a disk, a clock or another process. The flag -parallel says
// otherwise; on another system by an emulator, and for fuzzing, nothing changes. It is
// for TestMain, before the tests run.
func RunAtOnce(n int) error {
	if !flag.Parsed() {
		flag.Parse()
	}
	given := os.Getenv("EMULATOR") != "" || flag.Lookup("test.fuzz").Value.String() != ""
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return nil
	}
	parallel := flag.Lookup("test.parallel")
	now, err := strconv.Atoi(parallel.Value.String())
	if err != nil {
		return fmt.Errorf("read the flag -parallel: %w", err)
	}
	return parallel.Value.Set(strconv.Itoa(max(now, n)))
}

// Timely judges a promise in seconds in which the kernel or another process has a part.
// Where [Long] holds, it fails t when the operation what took longer than the limit.
// Elsewhere it only logs that: a busy machine is late with everything.
func Timely(t testing.TB, what string, took, limit time.Duration) {
	t.Helper()
	t.Logf("%s took %v; the limit is %v", what, took.Round(time.Microsecond), limit)
	if took > limit && Long() {
		t.Errorf("%s took %v, longer than %v", what, took, limit)
	}
}

// CollectLess lets the heap of this program grow to five times its used part before the
// garbage collector runs, instead of twice. Heaps of tests are small, so it would run many
// times a second and take a fifth of their time. The variable GOGC says otherwise; nothing
// changes for benchmarks. It is for TestMain, before the tests run. Processes that a test
// starts are not concerned.
func CollectLess() {
	if !flag.Parsed() {
		flag.Parse()
	}
	if os.Getenv("GOGC") == "" && flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(400)
	}
}

// Cleanup is like the Cleanup of t, for an f that reaches what is large, as a store or a
// server. Package testing keeps each f until the last parallel test of the program has ended,
// as part of its test; this function keeps it until f returns.
func Cleanup(t testing.TB, f func()) {
	t.Helper()
	t.Cleanup(func() {
		f()
		t.Cleanup(func() {}) // takes the place of f in the list of t
	})
}

// Lost returns t for checks whose failure means that data is lost or damaged. Such a
// failure prints a line that begins with LOST besides: .ci/run then fails, however
// often the test passes when it is run again.
func Lost(t testing.TB) testing.TB { return lost{t} }

type lost struct{ testing.TB }

// report prints the line whole, whatever is printed before it.
func (l lost) report() { fmt.Printf("\nLOST %s\n", l.Name()) }

func (l lost) Error(args ...any) { l.Helper(); l.report(); l.TB.Error(args...) }

func (l lost) Errorf(format string, args ...any) {
	l.Helper()
	l.report()
	l.TB.Errorf(format, args...)
}

func (l lost) Fatal(args ...any) { l.Helper(); l.report(); l.TB.Fatal(args...) }

func (l lost) Fatalf(format string, args ...any) {
	l.Helper()
	l.report()
	l.TB.Fatalf(format, args...)
}
