package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCases runs the program on small packages, each of which fails in a way of
// its own, and compares the exit code and what standard output says.
func TestCases(t *testing.T) {
	program := filepath.Join(t.TempDir(), "gotest")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, tt := range []struct {
		packages string
		flags    string
		code     int
		says     string
	}{
		{"once", "", 0, "FLAKY cases/once.TestOnce: case_test.go:13: the first run fails"},
		{"once left", "", 0, "3 passed, 0 failed, 0 skipped, 1 left to the soak, 1 left out as flaky"}, // "once" ran before it
		{"always", "", 1, "failed: cases/always: failed; then failed again: TestAlways"},
		{"twice", "", 1, "failed: cases/twice: failed; then failed again: TestTwice"},
		{"panics", "", 0, "FLAKY cases/panics.TestPanics: "},
		{"exits", "", 0, "FLAKY cases/exits.TestExits: "},
		{"nothing", "", 1, "failed: cases/nothing: failed; then failed again"},
		{"leak", "", 1, "failed: cases/leak: failed; then failed again"},
		{"hides", "", 1, "failed: cases/hides: failed; then failed again: TestFails"},
		{"race", "-race", 1, "failed: cases/race: a data race TestRace"},
		{"racelate", "-race", 1, "failed: cases/racelate: a data race"},
		{"order", "", 1, "failed: cases/order: failed; then failed again: TestDepends"},
		{"build", "", 1, "failed: cases/build: it does not build"},
		{"hangs", "-timeout=1s", 1, "failed: cases/hangs: it ran into -timeout"},
		{"lost", "", 1, "failed: cases/lost: lost or damaged data TestLost"},
		{"fatal", "", 1, "failed: cases/fatal: a fatal error of the runtime"},
		{"fewer", "", 1, "failed: cases/fewer: failed; then failed again"},
		{"skips", "", 1, "failed: cases/skips: skipped where CI is set: TestSkips"},
		{"always hides order leak", "", 1, "4 packages did; they are too many to run again"},
		{"missing", "", 1, "failed: "},
		{"runs", "", 1, "0 passed"}, // it has no tests
	} {
		t.Run(tt.packages, func(t *testing.T) {
			runs := t.TempDir()
			if tt.packages == "once left" {
				if err := os.WriteFile(filepath.Join(runs, "once"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			args := []string{"-modules=testdata/cases", "-flags=-count=1 " + tt.flags}
			for name := range strings.FieldsSeq(tt.packages) {
				args = append(args, "./"+name)
			}
			cmd := exec.Command(program, args...)
			cmd.Env = append(os.Environ(), "CI=true", "GOTEST_RUNS="+runs, "GOFLAGS=")
			var errOut strings.Builder
			cmd.Stderr = &errOut
			out, err := cmd.Output()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if code := cmd.ProcessState.ExitCode(); code != tt.code || !strings.Contains(string(out), tt.says) {
				t.Errorf("exit code %d, want %d, and to see %q; it said\n%s\n%s", code, tt.code, tt.says, out, errOut.String())
			}
			if strings.Contains(string(out), "FLAKY") != strings.HasPrefix(tt.says, "FLAKY") {
				t.Errorf("FLAKY: %s", out)
			}
		})
	}
}
