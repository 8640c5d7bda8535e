package sessionstore

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/test/cost"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

var benchDurabilities = []struct {
	name string
	is   Durability
}{{"durable", Durable}, {"relaxed", Relaxed}}

var benchSizes = []int{10, 1_000, 10_000, 50_000}

// benchRow is a message of about 1 kB.
func benchRow(i int) Message {
	return newMessage(fmt.Appendf(nil, `{"role": "assistant", "content": "%05d %s"}`, i, strings.Repeat("lorem ipsum ", 80)))
}

// benchStore returns a store with one session of n messages, whose next save
// appends, and the messages.
func benchStore(tb testing.TB, n int, d Durability) (*Store, *cost.Gauge, []Message) {
	tb.Helper()
	st, g, rows := freshBenchStore(tb, tb.TempDir(), n, d)
	aged()
	g.Reset()
	return st, g, rows
}

// aged waits until a session that was written just now is so old that its next
// save may mark.
func aged() { time.Sleep(300 * time.Millisecond) }

// freshBenchStore is benchStore, in dir, without waiting for the session to be
// [aged].
func freshBenchStore(tb testing.TB, dir string, n int, d Durability) (*Store, *cost.Gauge, []Message) {
	tb.Helper()
	g := &cost.Gauge{}
	st, err := open(dir, &Options{Durability: d}, g.Seam())
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, st.Close()) })
	rows := make([]Message, n, n+1_000_000)
	for i := range rows {
		rows[i] = benchRow(i)
	}
	ctx := context.Background()
	md := Metadata{}
	require.NoError(tb, md.Set("working_dir", "/work")) // whatever the path of the checkout
	require.NoError(tb, st.Save(ctx, "s", rows, md))
	for range 2 {
		rows = append(rows, benchRow(len(rows)))
		require.NoError(tb, st.Save(ctx, "s", rows, Metadata{}))
	}
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
				g.Report(b)
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
			g.Report(b)
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
						st.cache.invalidate("s")
					}
					_, err := st.Load(b.Context(), "s")
					require.NoError(b, err)
				}
			})
		}
	}
}

// saver saves one more message of a session, again and again.
type saver struct {
	st      *Store
	counted *cost.Gauge
	rows    []Message
	took    []time.Duration
}

func newSaver(t *testing.T, n int, d Durability) *saver {
	st, counted, rows := freshBenchStore(t, testenv.Scratch(t), n, d)
	return &saver{st: st, counted: counted, rows: rows}
}

func (s *saver) save(t *testing.T) {
	s.rows = append(s.rows, s.rows[0])
	begin := time.Now()
	require.NoError(t, s.st.Save(t.Context(), "s", s.rows, Metadata{}))
	s.took = append(s.took, time.Since(begin))
}

func (s *saver) median() time.Duration {
	slices.Sort(s.took)
	return s.took[len(s.took)/2]
}

// TestSaveCostsTheNewLines compares what a save of one more message does to
// the disk, and how much it allocates, in a short and in a long session. Times
// are told, not judged; they are those of memory, where the system has files there.
func TestSaveCostsTheNewLines(t *testing.T) {
	const times = 100
	n := 10_000
	if testenv.Long() {
		n = 50_000
	}
	for _, d := range benchDurabilities {
		t.Run(d.name, func(t *testing.T) {
			short, long := newSaver(t, 10, d.is), newSaver(t, n, d.is)
			aged()
			short.counted.Reset()
			long.counted.Reset()
			before := allocated()
			for range times {
				short.save(t)
				long.save(t)
			}
			require.Less(t, (allocated()-before)/times, uint64(2*128<<10), "bytes allocated by both: nothing is read again")
			total := long.counted.Total()
			require.Equal(t, short.counted.Total(), total)
			t.Logf("per save: %.1f operations, %.1f syncs, %.0f bytes; %d : 10 messages: %v : %v = %.2f",
				total.Operations/times, total.Syncs/times, total.Written/times, n,
				long.median(), short.median(), float64(long.median())/float64(short.median()))
			few := testing.AllocsPerRun(20, func() { short.save(t) })
			many := testing.AllocsPerRun(20, func() { long.save(t) })
			require.InDelta(t, few, many, 5)
			require.Less(t, many, 200.0)
			require.Equal(t, string(lines(long.rows)), transcriptText(t, long.st))
		})
	}
}

// allocated returns how many bytes the process has allocated.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func transcriptText(t *testing.T, st *Store) string {
	dir, err := st.openDir("s")
	require.NoError(t, err)
	data, _, err := dir.Read(sessiondir.Transcript)
	require.NoError(t, err)
	require.NoError(t, dir.Close())
	return string(data)
}

// A transcript that had to be read again is compared with the caller's line by
// line once, not at every save from then on.
func TestSaveKnowsTheCallersMessages(t *testing.T) {
	t.Parallel()
	s := newSaver(t, 10, Relaxed)
	s.st.cache.invalidate("s")
	s.save(t)
	require.True(t, slices.Equal(s.rows, s.st.cache.sessions["s"].cached.rows))
}
