package hybrid

import (
	"bytes"
	"fmt"
	"regexp"
	"sync/atomic"
)

// simRules are the built-in rules, in a version that all devices get at once. A later one
// puts another mark in the place of what it finds, and of earlier marks.
type simRules struct{ later atomic.Int64 }

func (r *simRules) Version() string { return fmt.Sprint("simulated/", 1+r.later.Load()) }

func (r *simRules) Line(line []byte) []byte {
	line = Secrets().Line(line)
	if n := r.later.Load(); n > 0 && bytes.Contains(line, []byte("[redacted:")) {
		line = simMark.ReplaceAll(line, fmt.Appendf(nil, "[redacted:later-%d-", n))
	}
	return line
}

var simMark = regexp.MustCompile(`\[redacted:(later-[0-9]+-)?`)

// unmarked returns a text without what tells which version of the rules made it.
func unmarked(text string) string { return simMark.ReplaceAllString(text, "[redacted:") }
