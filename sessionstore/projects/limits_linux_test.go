package projects

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/test/cost"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestLimits compares with testdata/limits.txt what is allocated and done: to sum up what
// 1,000 responses used, and to list one session of each of more projects than are open at
// once.
func TestLimits(t *testing.T) {
	cost.Check(t, "testdata/limits.txt", cost.MeasureAll(t, limitRuns, limited(t)))
}

// TestCalls compares how many system calls the operations make with testdata/calls.txt.
func TestCalls(t *testing.T) {
	cost.CheckCalls(t, "testdata/calls.txt", limitRuns, func() []cost.Operation { return limited(t) })
}

// limitRuns is how often an operation is done.
const limitRuns = 10

// limited returns the operations that have limits.
func limited(t *testing.T) []cost.Operation {
	t.Helper()
	return []cost.Operation{usageOperation(t), listOperation(t)}
}

func usageOperation(t *testing.T) cost.Operation {
	t.Helper()
	g := &cost.Gauge{}
	p, err := open(spent(t), nil, g.Seam())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return cost.Operation{Name: "usage/responses=1000", Gauge: g, Do: func() error {
		responses := 0
		for u, err := range p.Usage(t.Context(), Query{}) {
			if err != nil {
				return err
			}
			responses += u.Responses
		}
		if responses != 1000 {
			return fmt.Errorf("%d responses", responses)
		}
		return nil
	}}
}

func listOperation(t *testing.T) cost.Operation {
	t.Helper()
	const many = 40
	g := &cost.Gauge{}
	p, err := open(t.TempDir(), &sessionstore.Options{Durability: sessionstore.Relaxed}, g.Seam())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	for i := range many {
		st, err := core.Open(p.sessions(fmt.Sprint("project-", i)), p.opts, g.Seam())
		require.NoError(t, err)
		m, err := sessionstore.ParseMessage([]byte(`{"role": "user", "content": "hi"}`))
		require.NoError(t, err)
		require.NoError(t, st.Append(t.Context(), "s", m))
		require.NoError(t, st.Close())
	}
	list := func() error {
		n := 0
		for _, err := range p.Summaries(t.Context(), nil) {
			if err != nil {
				return err
			}
			n++
		}
		if n != many {
			return fmt.Errorf("%d sessions", n)
		}
		return nil
	}
	settled := func() bool { // nothing was written just now
		return g.Measure(1, func() { require.NoError(t, list()) }).Operations == 0
	}
	require.Eventually(t, settled, time.Minute, time.Millisecond)
	return cost.Operation{Name: fmt.Sprint("summaries/projects=", many), Gauge: g, Do: list}
}

// spent returns a directory of projects with a session whose log has 1,000 responses.
func spent(t *testing.T) string {
	top := t.TempDir()
	dir := filepath.Join(top, "-a", "sessions", "s")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	var log strings.Builder
	for n := range 1000 {
		fmt.Fprintf(&log, `{"ts": "2026-11-22T12:00:%02d.%03d+00:00", "event": "llm:response", "session_id": "s", "data": {"model": "m", "usage": {"input_tokens": %d, "cost_usd": "0.01"}}}`+"\n", n%60, n, n)
	}
	for name, text := range map[string]string{"events.jsonl": log.String(), "metadata.json": `{"created": "2026-11-22T12:00:00+00:00"}`} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return top
}
