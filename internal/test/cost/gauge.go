package cost

import (
	"sync/atomic"
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
)

// Cost is the cost of one operation. Operations are calls that change a file or a
// directory, as package seam announces them: calls that only look are not among them.
type Cost struct{ Allocs, Operations, Syncs, Written float64 }

// A Gauge counts the operations on the disk through its seam.
type Gauge struct{ operations, syncs, written atomic.Int64 }

// Seam returns the seam that g counts at.
func (g *Gauge) Seam() *seam.Seam { return &seam.Seam{After: g.count} }

func (g *Gauge) count(op seam.Op) {
	if op.Kind == seam.Lease || op.Kind == seam.Release {
		return
	}
	g.operations.Add(1)
	switch op.Kind {
	case seam.Write:
		g.written.Add(int64(len(op.Data)))
	case seam.Sync, seam.SyncDir:
		g.syncs.Add(1)
	}
}

// Total returns the counts since the beginning or the last Reset.
func (g *Gauge) Total() Cost {
	return Cost{0, float64(g.operations.Load()), float64(g.syncs.Load()), float64(g.written.Load())}
}

// Reset begins to count anew.
func (g *Gauge) Reset() {
	g.operations.Store(0)
	g.syncs.Store(0)
	g.written.Store(0)
}

// Report adds the counts to the figures of a benchmark.
func (g *Gauge) Report(b *testing.B) {
	total, n := g.Total(), float64(b.N)
	b.ReportMetric(total.Operations/n, "operations/op")
	b.ReportMetric(total.Syncs/n, "syncs/op")
	b.ReportMetric(total.Written/n, "written/op")
}

// Measure runs do so many times and once more before, and returns the average cost of a
// run. No other test may run at the same time.
func (g *Gauge) Measure(runs int, do func()) Cost {
	g.Reset()
	allocs := testing.AllocsPerRun(runs, do)
	c, n := g.Total(), float64(runs+1)
	return Cost{allocs, c.Operations / n, c.Syncs / n, c.Written / n}
}
