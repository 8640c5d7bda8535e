package eventslog

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cost"
)

// TestLimits compares what the operations cost with testdata/limits.txt.
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
	return append(appendOperations(t), readOperations(t)...)
}

var limitEvent = Event{Name: "tool:post", Data: map[string]any{"text": strings.Repeat("x", 1000)}, Time: time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)}

// limitLog returns a log with n events and a gauge of what is done to it.
func limitLog(t *testing.T, synced bool, n int) (*Log, *cost.Gauge) {
	t.Helper()
	g := &cost.Gauge{}
	l, err := open(t.TempDir(), &Options{Sync: synced}, g.Seam())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	require.NoError(t, l.Append(t.Context(), slices.Repeat([]Event{limitEvent}, n)...))
	return l, g
}

func appendOperations(t *testing.T) (all []cost.Operation) {
	t.Helper()
	for _, synced := range []bool{false, true} {
		for _, n := range []int{10, 1000} {
			l, g := limitLog(t, synced, n)
			name := fmt.Sprintf("append/sync=%t/n=%d", synced, n)
			all = append(all, cost.Operation{Name: name, Do: func() error { return l.Append(t.Context(), limitEvent) }, Gauge: g})
		}
	}
	return all
}

func readOperations(t *testing.T) (all []cost.Operation) {
	t.Helper()
	l, g := limitLog(t, false, 3000)
	for _, op := range []cost.Operation{
		{Name: "summary", Do: func() error { _, err := l.Summary(t.Context()); return err }},
		{Name: "at", Do: func() error { _, err := l.At(t.Context(), 3000); return err }},
		{Name: "tail", Do: func() error { _, err := l.Tail(t.Context(), 20); return err }},
		{Name: "slice", Do: func() error { _, err := l.SliceTo(t.Context(), io.Discard, limitEvent.Time, "", ""); return err }},
		{Name: "slicenew", Do: func() error {
			_, err := l.SliceTo(t.Context(), io.Discard, limitEvent.Time, "new", "parent")
			return err
		}},
	} {
		op.Name, op.Gauge = op.Name+"/n=3000", g
		all = append(all, op)
	}
	return all
}
