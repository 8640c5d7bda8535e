package eventslog

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/cost"
)

// TestLimits compares what the operations cost with testdata/limits.txt.
func TestLimits(t *testing.T) {
	const runs = 10
	got := cost.Table{}
	e := Event{Name: "tool:post", Data: map[string]any{"text": strings.Repeat("x", 1000)}, Time: time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)}
	for _, synced := range []bool{false, true} {
		for _, n := range []int{10, 1000} {
			g := &cost.Gauge{}
			l, err := open(t.TempDir(), &Options{Sync: synced}, g.Seam())
			require.NoError(t, err)
			for range n {
				require.NoError(t, l.Append(t.Context(), e))
			}
			got[fmt.Sprintf("append/sync=%t/n=%d", synced, n)] = g.Measure(runs, func() { require.NoError(t, l.Append(t.Context(), e)) })
			require.NoError(t, l.Close())
		}
	}
	g := &cost.Gauge{}
	l, err := open(t.TempDir(), nil, g.Seam())
	require.NoError(t, err)
	for range 3000 {
		require.NoError(t, l.Append(t.Context(), e))
	}
	reading := map[string]func() error{
		"summary":  func() error { _, err := l.Summary(t.Context()); return err },
		"tail":     func() error { _, err := l.Tail(t.Context(), 20); return err },
		"slice":    func() error { _, err := l.SliceTo(t.Context(), io.Discard, e.Time, "", ""); return err },
		"slicenew": func() error { _, err := l.SliceTo(t.Context(), io.Discard, e.Time, "new", "parent"); return err },
	}
	for name, do := range reading {
		got[name+"/n=3000"] = g.Measure(runs, func() { require.NoError(t, do()) })
	}
	require.NoError(t, l.Close())
	cost.Check(t, "testdata/limits.txt", got)
}
