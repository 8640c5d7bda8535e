// Package testenv tells tests what the machine they run on has. It is for
// tests alone.
package testenv

import (
	"flag"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
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

// Flaky skips the test unless [Long] holds, because it fails at times for no reason
// that is known. The entry is the heading in .ci/flaky.md that says what it said.
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
