// Count reads what go test -json prints, shows what failed or was skipped,
// and ends with the totals of tests and subtests, alone on standard output.
// It fails when a test failed, when none ran, or when one was skipped with
// the environment variable CI set.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

type event struct{ Action, Package, Test, Output string }

type counter struct {
	passed, failed, skipped int
	broken                  map[string]bool                        // packages with a failed test
	output                  map[string]map[string]*strings.Builder // by package and unfinished test
}

func main() {
	c := counter{broken: map[string]bool{}, output: map[string]map[string]*strings.Builder{}}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			c.line(line)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "read test events:", err)
			os.Exit(1)
		}
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", c.passed, c.failed, c.skipped)
	if c.failed > 0 || c.passed == 0 || c.skipped > 0 && os.Getenv("CI") != "" {
		os.Exit(1)
	}
}

// line takes one line; what is no event is shown as it is.
func (c *counter) line(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil {
		os.Stderr.Write(line)
		return
	}
	switch {
	case e.Action == "build-output", e.Action == "output" && e.Test == "":
		fmt.Fprint(os.Stderr, e.Output)
	case e.Action == "output":
		c.keep(e)
	case e.Test != "":
		c.test(e)
	case e.Action == "fail":
		c.failedPackage(e.Package)
	}
}

// result is what lines begin with that are shown from tests that passed, too.
const result = "power cuts "

func (c *counter) keep(e event) {
	if strings.HasPrefix(e.Output, result) {
		fmt.Fprint(os.Stderr, e.Output)
	}
	tests := c.output[e.Package]
	if tests == nil {
		tests = map[string]*strings.Builder{}
		c.output[e.Package] = tests
	}
	if tests[e.Test] == nil {
		tests[e.Test] = &strings.Builder{}
	}
	tests[e.Test].WriteString(e.Output)
}

// test takes an event that may be the end of a test.
func (c *counter) test(e event) {
	switch e.Action {
	case "pass":
		c.passed++
	case "fail":
		c.failed++
		c.broken[e.Package] = true
	case "skip":
		c.skipped++
	default:
		return
	}
	if out := c.output[e.Package][e.Test]; out != nil && e.Action != "pass" {
		fmt.Fprintf(os.Stderr, "%s: %s\n%s", e.Package, e.Test, out)
	}
	delete(c.output[e.Package], e.Test)
}

// failedPackage shows the tests that never ended. A package without a failed
// test did not build, panicked or ran out of time: that counts as one.
func (c *counter) failedPackage(pkg string) {
	for test, out := range c.output[pkg] {
		fmt.Fprintf(os.Stderr, "%s: %s did not end\n%s", pkg, test, out)
	}
	if !c.broken[pkg] {
		c.failed++
	}
}
