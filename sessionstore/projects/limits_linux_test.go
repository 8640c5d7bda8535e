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
	got := cost.Table{}
	p, err := Open(spent(t), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	got["usage/responses=1000"] = new(cost.Gauge).Measure(20, func() {
		responses := 0
		for u, err := range p.Usage(t.Context(), Query{}) {
			require.NoError(t, err)
			responses += u.Responses
		}
		require.Equal(t, 1000, responses)
	})
	const many = 40
	g := &cost.Gauge{}
	listed, err := open(t.TempDir(), &sessionstore.Options{Durability: sessionstore.Relaxed}, g.Seam())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listed.Close()) })
	for i := range many {
		st, err := core.Open(listed.sessions(fmt.Sprint("project-", i)), listed.opts, g.Seam())
		require.NoError(t, err)
		m, err := sessionstore.ParseMessage([]byte(`{"role": "user", "content": "hi"}`))
		require.NoError(t, err)
		require.NoError(t, st.Append(t.Context(), "s", m))
		require.NoError(t, st.Close())
	}
	list := func() {
		n := 0
		for _, err := range listed.Summaries(t.Context(), nil) {
			require.NoError(t, err)
			n++
		}
		require.Equal(t, many, n)
	}
	settled := func() bool { return g.Measure(1, list).Operations == 0 } // nothing was written just now
	require.Eventually(t, settled, time.Minute, time.Millisecond)
	got[fmt.Sprint("summaries/projects=", many)] = g.Measure(5, list)
	cost.Check(t, "testdata/limits.txt", got)
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
