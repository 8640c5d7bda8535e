package projects_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cost"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// TestLimits compares with testdata/limits.txt what is allocated to sum up what 1,000
// responses used.
func TestLimits(t *testing.T) {
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
	p := openProjects(t, top)
	got := cost.Table{"usage/responses=1000": new(cost.Gauge).Measure(20, func() {
		responses := 0
		for u, err := range p.Usage(t.Context(), projects.Query{}) {
			require.NoError(t, err)
			responses += u.Responses
		}
		require.Equal(t, 1000, responses)
	})}
	cost.Check(t, "testdata/limits.txt", got)
}
