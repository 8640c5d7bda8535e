package main

import (
	"fmt"
	"strings"
)

// signs are the failures that no later run of a package forgives, by a text in their
// output.
var signs = []struct{ text, why string }{
	{"WARNING: DATA RACE", "a data race"},
	{"panic: test timed out after", "it ran into -timeout"},
	{"*** Test killed", "it ran into -timeout"},
	{"fatal error: ", "a fatal error of the runtime"},
}

// unforgivable returns why the run decides alone, or nothing when it does not. A
// data race and lost data do, also where the package says that it passed.
func (r *run) unforgivable() string {
	if !r.built {
		return "it does not build"
	}
	for _, name := range append(r.names(), "") {
		t := &r.outside
		if name != "" {
			t = r.tests[name]
		}
		if why := t.unforgivable(r.failed()); why != "" {
			return strings.TrimSpace(why + " " + name)
		}
	}
	return ""
}

func (t *test) unforgivable(failed bool) string {
	for line := range strings.Lines(t.output.String()) {
		if strings.HasPrefix(strings.TrimSpace(line), "LOST ") {
			return "lost or damaged data"
		}
		for _, s := range signs {
			if strings.Contains(line, s.text) && (failed || s.why == "a data race") {
				return s.why
			}
		}
	}
	return ""
}

// confirm returns why a later run of the package does not show that the first failed by
// chance, or "" when it does. All tests that the first run began must be in the later run,
// and the tests that failed must pass.
func (r *run) confirm(later *run) string {
	if why := later.unforgivable(); why != "" {
		return why
	}
	if later.failed() {
		return "failed again: " + strings.Join(later.ofKind(failed), " ")
	}
	for name, t := range r.tests {
		again := later.tests[name]
		if again == nil && (t.kind() == failed || !strings.Contains(name, "/")) {
			return name + " was not there"
		}
		if t.kind() == failed && again.kind() != passed {
			return name + " was " + again.kind()
		}
	}
	return ""
}

// complaints returns a line for each test that failed: its name and its output. A test with
// a failed subtest has no line: the subtest has one.
func (r *run) complaints() (lines []string) {
	names := r.ofKind(failed)
	for i, name := range names {
		if i+1 < len(names) && strings.HasPrefix(names[i+1], name+"/") {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s.%s: %s", r.pkg, name, oneLine(r.tests[name].output.String())))
	}
	if len(lines) == 0 {
		lines = []string{fmt.Sprintf("%s: %s", r.pkg, oneLine(r.outside.output.String()))}
	}
	return lines
}

// oneLine returns the text in one line of at most 600 bytes, without the lines of go test
// about the beginning and end of tests.
func oneLine(text string) string {
	var words []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "=== ") {
			words = append(words, strings.Fields(line)...)
		}
	}
	line := strings.Join(words, " ")
	return strings.ToValidUTF8(line[:min(len(line), 600)], "")
}

func (r *run) names() (names []string) {
	for name := range r.tests {
		names = append(names, name)
	}
	return names
}
