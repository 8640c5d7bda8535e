// Package testenv tells tests what the machine they run on has. It is for
// tests alone.
package testenv

import (
	"flag"
	"os"
	"os/exec"
	"testing"
)

// Need skips the test with reason when cond is false. With the environment
// variable CI set the test fails instead, so that nothing goes unchecked there.
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

// Thorough reports whether random and exhaustive tests are to go as far as CI
// does, because the environment variable CI is set, and the flag -short is
// not: the race detector looks at less.
func Thorough() bool { return os.Getenv("CI") != "" && !(flag.Parsed() && testing.Short()) }

// Python returns the path of a python3 that runs. Without one the test is
// skipped, or fails, as by [Need].
func Python(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	Need(t, err == nil, "python3 is not installed")
	err = exec.CommandContext(t.Context(), path, "-c", "").Run()
	Need(t, err == nil, "python3 does not run")
	return path
}
