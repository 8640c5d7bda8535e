package hybrid

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
)

// ruleFiles are the files with what is remembered of what may leave.
var ruleFiles = []string{replica.PrivateFile, replica.LocalOnlyFile, replica.RedactionFile}

// countRuleReads counts how often a device opens them.
func countRuleReads(d *testDevice) (take func() int) {
	var mu sync.Mutex // guards n
	n := 0
	d.engine.States.OnRead = func(file string) {
		mu.Lock()
		defer mu.Unlock()
		if slices.Contains(ruleFiles, file) {
			n++
		}
	}
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		was := n
		n = 0
		return was
	}
}

// settleRules makes the files as old as files are that nobody changed of late.
func settleRules(t *testing.T, d *testDevice, at time.Time) {
	t.Helper()
	for _, name := range ruleFiles {
		path := filepath.Join(d.Dir(), ".sessionstore", "sync", name)
		if _, err := os.Stat(path); err == nil {
			require.NoError(t, os.Chtimes(path, time.Time{}, at))
		}
	}
}

// TestRulesAreReadOnce: however many sessions there are, and however deep their lineage
// is, the files with the rules are opened once, until one of them changes. A change of
// another process counts at once.
func TestRulesAreReadOnce(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a", func(o *Options) { o.Private, o.Redact = []string{"private-*"}, Secrets() })
	require.NoError(t, a.KeepLocal(t.Context(), "mine"))
	settleRules(t, a, time.Now().Add(-time.Hour))
	parent := "root"
	a.say(parent, "one")
	for i := range 12 {
		id := fmt.Sprint("s", i)
		a.child(id, parent)
		parent = id
	}
	reads := countRuleReads(a)
	before := c.Counters().Total.Requests
	require.Equal(t, 13, a.sync().Pushed)
	requests := c.Counters().Total.Requests - before
	require.LessOrEqual(t, reads(), len(ruleFiles))
	_, err := a.Status(t.Context())
	require.NoError(t, err)
	a.sync()
	require.Zero(t, reads(), "nothing changed")
	require.LessOrEqual(t, requests, 13*6, "the rules ask the cloud for nothing")

	tool := c.deviceAt(t, a.Dir(), "a", func(o *Options) { o.Private = []string{"private-*", "s3"} })
	settleRules(t, a, time.Now().Add(-30*time.Minute))
	for i := range 12 {
		a.say(fmt.Sprint("s", i), "more")
	}
	require.Equal(t, 3, a.sync().Pushed, "those before s3")
	require.LessOrEqual(t, reads(), len(ruleFiles), "once more")
	require.NoError(t, tool.KeepLocal(t.Context(), "s1"))
	a.say("s2", "and more")
	a.say("s0", "and more")
	require.Equal(t, 1, a.sync().Pushed)
	require.Positive(t, reads())
}
