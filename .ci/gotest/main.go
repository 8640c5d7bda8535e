// Gotest runs go test in modules and decides whether the tests passed.
//
//	go run ./.ci/gotest [-modules DIR,DIR] [-flags 'FLAGS OF GO TEST'] [PACKAGE...]
//
// A package that failed is run again when all others are done: whole, and twice. When both
// runs pass, it is called flaky and fails nothing. A line that begins with FLAKY has the
// name and the output of each of its tests that failed. See judge.go for the failures that
// no later run forgives.
//
// A test that is skipped counts as a failure where CI is set. Tests whose reason
// begins with "soak: " or "flaky: " are counted apart: .ci/soak runs those.
//
// Failures go to standard error; the totals and the FLAKY lines go to standard output. The
// exit code is 0 when the tests passed, and 1 when not.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

func main() {
	modules := flag.String("modules", ".", "directories of the modules, with commas between")
	flags := flag.String("flags", "", "flags for go test, with spaces between")
	flag.Parse()
	packages := flag.Args()
	if len(packages) == 0 {
		packages = []string{"./..."}
	}
	s := session{flags: strings.Fields(*flags), ci: os.Getenv("CI") != ""}
	for dir := range strings.SplitSeq(*modules, ",") {
		s.first = append(s.first, s.test(dir, packages...)...)
	}
	s.judge()
	s.report()
	if len(s.red) > 0 {
		os.Exit(1)
	}
}

// mostRepeated is the greatest number of packages that are run again. When more fail, it is
// not by chance.
const mostRepeated = 3

// A session runs packages and keeps their results.
type session struct {
	flags []string
	ci    bool // a test may not be skipped
	first []*run
	red   []string // why the tests did not pass
	flaky []string
}

// test runs go test in a module, and returns the run of each package.
func (s *session) test(dir string, packages ...string) []*run {
	args := append([]string{"test", "-json"}, s.flags...)
	cmd := exec.Command("go", append(args, packages...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	events, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.fail("%s: go test does not start: %v", dir, err)
		return nil
	}
	runs, err := read(events)
	if err != nil {
		s.fail("%s: %v", dir, err)
	}
	failed := false
	for _, r := range runs {
		r.dir = dir
		failed = failed || r.failed()
	}
	if err := cmd.Wait(); err != nil && !failed {
		s.fail("%s: go test %s: %v, and no package failed", dir, strings.Join(packages, " "), err)
	}
	return runs
}

func (s *session) fail(format string, args ...any) {
	s.red = append(s.red, fmt.Sprintf(format, args...))
}

// judge decides whether each package passed. It runs packages that failed again.
func (s *session) judge() {
	var again []*run
	for _, r := range s.first {
		switch why := r.unforgivable(); {
		case why != "":
			s.fail("%s: %s", r.pkg, why)
		case r.failed():
			again = append(again, r)
		case s.ci && len(r.skipped()) > 0:
			s.fail("%s: skipped where CI is set: %s", r.pkg, strings.Join(r.skipped(), " "))
		}
	}
	if len(again) > mostRepeated {
		for _, r := range again {
			s.fail("%s: failed, as %d packages did; they are too many to run again", r.pkg, len(again))
		}
		return
	}
	for _, r := range again {
		s.repeat(r)
	}
}

// repeat runs a package twice more, and decides about it.
func (s *session) repeat(r *run) {
	for n := range 2 {
		fmt.Fprintf(os.Stderr, "%s failed: run again, %d of 2\n", r.pkg, n+1)
		why := "did not run"
		for _, later := range s.test(r.dir, r.pkg) {
			why = r.confirm(later)
		}
		if why != "" {
			s.fail("%s: failed; then %s", r.pkg, why)
			return
		}
	}
	s.flaky = append(s.flaky, r.complaints()...)
}

// report shows the totals.
func (s *session) report() {
	total := map[string]int{}
	for _, r := range s.first {
		for _, t := range r.tests {
			total[t.kind()]++
		}
	}
	if total[passed] == 0 && len(s.flaky) == 0 {
		s.fail("no test passed")
	}
	fmt.Printf("%d passed, %d failed, %d skipped, %d left to the soak, %d left out as flaky\n",
		total[passed], total[failed], total[skipped], total[soak], total[leftOut])
	for _, why := range s.red {
		fmt.Println("failed:", why)
	}
	for _, line := range s.flaky {
		fmt.Println("FLAKY", line)
	}
}
