// Stresser runs the tests that are new or changed, again and again, beside load.
//
//	.ci/stress [BASE]
//
// BASE is the commit to compare with: origin/main, or else the parent of HEAD. Uncommitted
// changes count, too. A test has changed when its function or its comment has, or a file
// below testdata with its name: limits.txt belongs to TestLimits. A change in a function
// that the test calls does not count.
//
// Each test runs once with its own seed, a hundred times or for three minutes with new
// seeds, and 25 times with the race detector. After half an hour everything ends, and the
// tests that did not run are named. TEST_LONG has the usual meaning.
//
// The exit code is 0 when no test failed, 1 when one did, and 2 when they could not
// run.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// The exit codes.
const (
	clean       = 0
	failure     = 1
	couldNotRun = 2
)

// limits are the limits of a stress.
type limits struct {
	runs, races int           // of a test, and with the race detector
	each, all   time.Duration // for the runs of a test, and for everything
	busy        int           // processes that make load
}

func main() {
	if os.Getenv(busyVariable) != "" {
		beBusy()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	usual := limits{runs: 100, races: 25, each: 3 * time.Minute, all: 30 * time.Minute, busy: 2 * runtime.NumCPU()}
	os.Exit(command(ctx, os.Args[1:], usual, os.Stdout))
}

// command stresses the tests of the repository in the working directory.
func command(ctx context.Context, args []string, l limits, out io.Writer) int {
	if len(args) > 1 || len(args) == 1 && args[0][:min(1, len(args[0]))] == "-" {
		fmt.Fprintln(out, "usage: .ci/stress [BASE]")
		return couldNotRun
	}
	tests, err := changedTests(ctx, args)
	if err != nil {
		fmt.Fprintln(out, err)
		return couldNotRun
	}
	if len(tests) == 0 {
		fmt.Fprintln(out, "no test is new or changed")
		return clean
	}
	ctx, end := context.WithTimeout(ctx, l.all)
	defer end()
	failed, err := stressAll(ctx, tests, l, out)
	switch {
	case failed:
		return failure
	case err != nil && !errors.Is(err, context.DeadlineExceeded):
		fmt.Fprintln(out, err)
		return couldNotRun
	}
	return clean
}
