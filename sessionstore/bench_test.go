package sessionstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/fault"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// gauge counts what a store does to the disk.
type gauge struct{ operations, syncs, bytes int64 }

func (g *gauge) count(op fault.Op) {
	g.operations++
	switch op.Kind {
	case fault.Write:
		g.bytes += int64(len(op.Data))
	case fault.Sync, fault.SyncDir:
		g.syncs++
	}
}

// report adds what was counted to the benchmark's figures.
func (g *gauge) report(b *testing.B) {
	for unit, n := range map[string]int64{"operations/op": g.operations, "syncs/op": g.syncs, "written/op": g.bytes} {
		b.ReportMetric(float64(n)/float64(b.N), unit)
	}
}

var benchDurabilities = []struct {
	name string
	is   Durability
}{{"durable", Durable}, {"datasynced", DataSynced}, {"relaxed", Relaxed}}

var benchSizes = []int{10, 1_000, 10_000, 50_000}

// benchRow is a message of about 1 kB.
func benchRow(i int) Message {
	return newMessage(fmt.Appendf(nil, `{"role": "assistant", "content": "%05d %s"}`, i, strings.Repeat("lorem ipsum ", 80)))
}

// benchStore returns a store with one session of n messages, whose next save
// appends, and the messages.
func benchStore(tb testing.TB, n int, d Durability) (*Store, *gauge, []Message) {
	tb.Helper()
	g := &gauge{}
	st, err := open(tb.TempDir(), &Options{Durability: d}, &fault.Seam{After: g.count})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, st.Close()) })
	rows := make([]Message, n, n+1_000_000)
	for i := range rows {
		rows[i] = benchRow(i)
	}
	ctx := context.Background()
	require.NoError(tb, st.Save(ctx, "s", rows, Metadata{}))
	for range 2 {
		rows = append(rows, benchRow(len(rows)))
		require.NoError(tb, st.Save(ctx, "s", rows, Metadata{}))
	}
	time.Sleep(300 * time.Millisecond) // so that the next save may mark
	*g = gauge{}
	return st, g, rows
}

// benchEach runs do for each size and durability.
func benchEach(b *testing.B, do func(b *testing.B, st *Store, rows []Message)) {
	for _, d := range benchDurabilities {
		for _, n := range benchSizes {
			b.Run(fmt.Sprintf("durability=%s/n=%d", d.name, n), func(b *testing.B) {
				st, g, rows := benchStore(b, n, d.is)
				b.ReportAllocs()
				do(b, st, rows)
				g.report(b)
			})
		}
	}
}

func BenchmarkSave(b *testing.B) {
	next := benchRow(0)
	benchEach(b, func(b *testing.B, st *Store, rows []Message) {
		for b.Loop() {
			rows = append(rows, next)
			require.NoError(b, st.Save(b.Context(), "s", rows, Metadata{}))
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	next := benchRow(0)
	benchEach(b, func(b *testing.B, st *Store, _ []Message) {
		for b.Loop() {
			require.NoError(b, st.Append(b.Context(), "s", next))
		}
	})
}

func BenchmarkRewrite(b *testing.B) {
	benchEach(b, func(b *testing.B, st *Store, rows []Message) {
		turn := 0
		for b.Loop() {
			turn++
			rows[0] = benchRow(turn)
			require.NoError(b, st.Save(b.Context(), "s", rows, Metadata{}))
		}
	})
}

func BenchmarkUpdateMetadata(b *testing.B) {
	for _, d := range benchDurabilities {
		b.Run("durability="+d.name, func(b *testing.B) {
			st, g, _ := benchStore(b, 10, d.is)
			turn := 0
			b.ReportAllocs()
			for b.Loop() {
				turn++
				_, err := st.UpdateMetadata(b.Context(), "s", func(md *Metadata) error { return md.Set("n", turn) })
				require.NoError(b, err)
			}
			g.report(b)
		})
	}
}

// BenchmarkLoad reads the files; known=true, what the store knows already.
func BenchmarkLoad(b *testing.B) {
	for _, n := range benchSizes {
		for _, known := range []bool{false, true} {
			b.Run(fmt.Sprintf("known=%t/n=%d", known, n), func(b *testing.B) {
				st, _, _ := benchStore(b, n, Relaxed)
				s, err := st.Load(b.Context(), "s")
				require.NoError(b, err)
				b.SetBytes(s.Revision.Bytes)
				b.ReportAllocs()
				for b.Loop() {
					if !known {
						st.session("s").forget()
					}
					_, err := st.Load(b.Context(), "s")
					require.NoError(b, err)
				}
			})
		}
	}
}

// saves counts what so many saves of one more message do and allocate.
func saves(t *testing.T, n, times int, d Durability) (g gauge, allocs float64, took time.Duration) {
	st, counted, rows := benchStore(t, n, d)
	next := benchRow(0)
	var all []time.Duration
	allocs = testing.AllocsPerRun(times, func() {
		rows = append(rows, next)
		begin := time.Now()
		require.NoError(t, st.Save(t.Context(), "s", rows, Metadata{}))
		all = append(all, time.Since(begin))
	})
	g = *counted
	slices.Sort(all)
	have, err := st.openDir("s")
	require.NoError(t, err)
	at, err := have.Stat(sessiondir.Transcript)
	require.NoError(t, err)
	require.NoError(t, have.Close())
	require.Equal(t, int64(len(lines(rows))), at.Size)
	return g, allocs, all[len(all)/2]
}

// TestSaveCostsTheNewLines compares what a save of one more message does to
// the disk, and how much it allocates, in a short and in a long session. Times
// are told, not judged.
func TestSaveCostsTheNewLines(t *testing.T) {
	const times = 40
	for _, d := range benchDurabilities {
		t.Run(d.name, func(t *testing.T) {
			short, shortAllocs, shortTime := saves(t, 10, times, d.is)
			long, longAllocs, longTime := saves(t, 50_000, times, d.is)
			require.Equal(t, short, long)
			require.InDelta(t, shortAllocs, longAllocs, 5)
			require.Less(t, longAllocs, 200.0)
			t.Logf("per save: %.1f operations, %.1f syncs, %d bytes, %.0f allocations; 50,000 : 10 messages: %v : %v = %.2f",
				float64(long.operations)/(times+1), float64(long.syncs)/(times+1), long.bytes/(times+1), longAllocs,
				longTime, shortTime, float64(longTime)/float64(shortTime))
		})
	}
}
