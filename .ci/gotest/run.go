package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// An event is one of those that go test -json prints.
type event struct{ Action, Package, Test, Output, FailedBuild string }

// A test is a test or a subtest, or the output of a package outside of its tests.
type test struct {
	result string // pass, fail or skip; empty when it did not end
	output strings.Builder
}

// Results of a test.
const (
	passed  = "passed"
	failed  = "failed"
	skipped = "skipped"
	soak    = "left to the soak"
	leftOut = "left out as flaky"
)

// kind returns the result of the test. A test that did not end has failed.
func (t *test) kind() string {
	switch {
	case t.result == "pass":
		return passed
	case t.result != "skip":
		return failed
	case strings.Contains(t.output.String(), ": soak: "):
		return soak
	case strings.Contains(t.output.String(), ": flaky: "):
		return leftOut
	}
	return skipped
}

// A run is the result of one package.
type run struct {
	pkg, dir string
	result   string // pass, fail or skip; empty when it did not end
	built    bool
	tests    map[string]*test
	outside  test // the output outside of tests
}

// failed reports whether the package failed, or one of its tests, or the package
// passed without running tests that it has.
func (r *run) failed() bool {
	return r.result == "fail" || r.result == "" || len(r.ofKind(failed)) > 0 || r.empty()
}

// empty reports whether the package passed and ran no test, though it has some: TestMain
// can do that.
func (r *run) empty() bool {
	said := r.outside.output.String()
	return r.result == "pass" && len(r.tests) == 0 && !strings.Contains(said, "no tests to run") && !strings.Contains(said, "[no test")
}

func (r *run) skipped() []string { return r.ofKind(skipped) }

func (r *run) ofKind(kind string) (names []string) {
	for name, t := range r.tests {
		if t.kind() == kind {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// read reads the events of one go test and shows its failures.
func read(events io.Reader) ([]*run, error) {
	runs := map[string]*run{}
	in := bufio.NewReader(events)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			take(runs, line)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read test events: %w", err)
		}
	}
	for _, r := range runs {
		if r.result == "" {
			r.show()
		}
	}
	return slices.SortedFunc(maps.Values(runs), func(a, b *run) int { return strings.Compare(a.pkg, b.pkg) }), nil
}

// take adds one line to the runs. A line that is no event is shown unchanged.
func take(runs map[string]*run, line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil {
		_, _ = os.Stderr.Write(line)
		return
	}
	if e.Package == "" { // the compiler says something
		fmt.Fprint(os.Stderr, e.Output)
		return
	}
	r := runs[e.Package]
	if r == nil {
		r = &run{pkg: e.Package, built: true, tests: map[string]*test{}}
		runs[e.Package] = r
	}
	r.take(e)
}

func (r *run) take(e event) {
	t := &r.outside
	if e.Test != "" {
		if r.tests[e.Test] == nil {
			r.tests[e.Test] = &test{}
		}
		t = r.tests[e.Test]
	}
	switch e.Action {
	case "output":
		t.output.WriteString(e.Output)
		if strings.HasPrefix(e.Output, figures) {
			fmt.Fprint(os.Stderr, e.Output)
		}
	case "pass", "fail", "skip":
		if e.Test != "" {
			t.result = e.Action
			break
		}
		r.result = e.Action
		r.built = e.FailedBuild == ""
		r.show()
	}
}

// figures is the beginning of lines that are also shown from tests that passed.
const figures = "power cuts "

// show prints the output of the failed and skipped tests of the package and the output
// outside of tests.
func (r *run) show() {
	for _, name := range slices.Sorted(maps.Keys(r.tests)) {
		if kind := r.tests[name].kind(); kind == failed || kind == skipped {
			fmt.Fprintf(os.Stderr, "%s.%s %s\n%s", r.pkg, name, kind, r.tests[name].output.String())
		}
	}
	fmt.Fprint(os.Stderr, r.outside.output.String())
}
