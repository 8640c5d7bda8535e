package hybrid

import (
	"bytes"
	"fmt"
	"regexp"
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/testenv"
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

// resync lets a device write a session anew, mostly under later rules, and sometimes what
// belongs to it. Nothing becomes unreachable by that.
func (w *world) resync(d *gadget, id string) {
	if id == "" || d.running || d.rules == nil { // see sync
		return
	}
	ids := []string{id}
	if w.rand.IntN(3) == 0 {
		family, err := d.Family(w.ctx(), id)
		if w.expected(d, err); err != nil {
			return
		}
		ids = family
	}
	if r, ok := d.rules.(*simRules); ok && w.rand.IntN(3) > 0 {
		r.later.Add(1)
	}
	all, _ := w.reader.kept()
	err := d.Resync(w.ctx(), ids...)
	w.expected(d, err)
	require.NotErrorIs(w.t, err, ErrDamaged)
	left := w.reader.reachable()
	require.Empty(w.t, w.reader.found())
	for mark := range all {
		require.True(testenv.Lost(w.t), left[mark], "a Resync by %s lost %s", d.name, mark)
	}
	if err == nil {
		w.sum.did("resync done")
	}
}
