// Package cost compares what operations cost with limits that are committed:
// allocations, and what they do to the disk, which are the same on every
// machine, unlike times.
package cost

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/fault"
)

// Cost is what one operation costs. Operations are those that change a file or
// a directory, as the seam of package fault sees them: calls that only look are
// not among them.
type Cost struct{ Allocs, Operations, Syncs, Written float64 }

// A Gauge counts what is done to the disk through its seam.
type Gauge struct{ operations, syncs, written atomic.Int64 }

// Seam returns the seam that g counts at.
func (g *Gauge) Seam() *fault.Seam { return &fault.Seam{After: g.count} }

func (g *Gauge) count(op fault.Op) {
	g.operations.Add(1)
	switch op.Kind {
	case fault.Write:
		g.written.Add(int64(len(op.Data)))
	case fault.Sync, fault.SyncDir:
		g.syncs.Add(1)
	}
}

// Total returns what was counted since the beginning or the last Reset.
func (g *Gauge) Total() Cost {
	return Cost{0, float64(g.operations.Load()), float64(g.syncs.Load()), float64(g.written.Load())}
}

// Reset begins to count anew.
func (g *Gauge) Reset() {
	g.operations.Store(0)
	g.syncs.Store(0)
	g.written.Store(0)
}

// Report adds what was counted to the figures of a benchmark.
func (g *Gauge) Report(b *testing.B) {
	total, n := g.Total(), float64(b.N)
	b.ReportMetric(total.Operations/n, "operations/op")
	b.ReportMetric(total.Syncs/n, "syncs/op")
	b.ReportMetric(total.Written/n, "written/op")
}

// Measure runs do so many times and once more before, and returns what one run
// costs on average. No other test may run at the same time.
func (g *Gauge) Measure(runs int, do func()) Cost {
	g.Reset()
	allocs := testing.AllocsPerRun(runs, do)
	c, n := g.Total(), float64(runs+1)
	return Cost{allocs, c.Operations / n, c.Syncs / n, c.Written / n}
}

// MeasureAll measures operations, each with its gauge; see [Gauge.Measure].
func MeasureAll(t testing.TB, runs int, operations []Operation) Table {
	t.Helper()
	got := Table{}
	for _, o := range operations {
		got[o.Name] = o.Gauge.Measure(runs, func() {
			if err := o.Do(); err != nil {
				t.Fatal(err)
			}
		})
	}
	return got
}

// Table is the costs of operations by their names.
type Table map[string]Cost

// columns heads a table.
const columns = "# operation allocs operations syncs written\n"

// String returns the table as a file of limits has it.
func (t Table) String() string {
	var out strings.Builder
	out.WriteString(columns)
	names := make([]string, 0, len(t))
	for name := range t {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		c := t[name]
		fmt.Fprintf(&out, "%s %.0f %.1f %.1f %.0f\n", name, c.Allocs, c.Operations, c.Syncs, c.Written)
	}
	return out.String()
}

// Read reads a table.
func Read(in io.Reader) (Table, error) {
	t := Table{}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if line := lines.Text(); line != "" && !strings.HasPrefix(line, "#") {
			name, c := "", Cost{}
			if _, err := fmt.Sscan(line, &name, &c.Allocs, &c.Operations, &c.Syncs, &c.Written); err != nil {
				return nil, fmt.Errorf("read limit %q: %w", line, err)
			}
			t[name] = c
		}
	}
	return t, lines.Err()
}

// allocSlack is how many times their limit allocations may be: an os.File may
// take one more in a process that has opened very many.
const allocSlack = 1.25

// Over tells what of got is more than its limit, or has none, and which limits
// are of nothing, or so high that they no longer guard anything. Allocations
// are left out where allocs is false.
func (t Table) Over(got Table, allocs bool) error {
	var errs []error
	for name, limit := range t {
		c, ok := got[name]
		if !ok {
			errs = append(errs, fmt.Errorf("%s: has a limit and is not measured", name))
			continue
		}
		figures := []struct {
			what             string
			is, limit, slack float64
		}{
			{"allocations", c.Allocs, limit.Allocs, allocSlack},
			{"operations", c.Operations, limit.Operations, 1.02},
			{"syncs", c.Syncs, limit.Syncs, 1.02},
			{"bytes written", c.Written, limit.Written, 1.02},
		}
		if !allocs {
			figures = figures[1:]
		}
		for _, f := range figures {
			switch {
			case f.is > f.limit*f.slack+0.1:
				errs = append(errs, fmt.Errorf("%s: %.1f %s, %.1f are allowed", name, f.is, f.what, f.limit))
			case f.is < f.limit*0.6-2:
				errs = append(errs, fmt.Errorf("%s: %.1f %s, so the limit %.1f can be lower", name, f.is, f.what, f.limit))
			}
		}
	}
	for name := range got {
		if _, ok := t[name]; !ok {
			errs = append(errs, fmt.Errorf("%s: has no limit", name))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// Check fails t when got is not within the limits in the file.
func Check(t testing.TB, file string, got Table) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	limits, err := Read(f)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	if err := limits.Over(got, exact); err != nil {
		t.Errorf("%v\nall figures, for %s:\n%v", err, file, got)
	}
}
