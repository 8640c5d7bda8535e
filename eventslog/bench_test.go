package eventslog

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
)

// largeLog returns a log of 64 MiB: lines of 1 KB, and one of 4 MB for 2000 of
// them when mixed.
func largeLog(b *testing.B, mixed bool) (*Log, int64) {
	b.Helper()
	l, err := Open(b.TempDir(), nil)
	require.NoError(b, err)
	var buf bytes.Buffer
	text := strings.Repeat(`some text, \"quoted\" and with\nlines; `, 25)
	for i := 0; buf.Len() < 64<<20; i++ {
		if mixed && i%2000 == 1999 {
			fmt.Fprintf(&buf, `{"ts": "2026-01-01T00:00:00.%06d+00:00", "event": "llm:request", "data": {"raw": "%s"}, "session_id": "s"}`+"\n", i, strings.Repeat(text, 4000))
			continue
		}
		fmt.Fprintf(&buf, `{"ts": "2026-01-01T00:00:00.%06d+00:00", "lvl": "INFO", "schema": {"name": "amplifier.log", "ver": "1.0.0"}, "event": "tool:%d", "session_id": "s", "data": {"n": %d, "text": "%s"}}`+"\n", i, i%9, i, text)
	}
	require.NoError(b, os.WriteFile(l.path(), buf.Bytes(), 0o600))
	return l, int64(buf.Len())
}

// benchmarkLarge measures what reads a whole log of either kind.
func benchmarkLarge(b *testing.B, read func(b *testing.B, l *Log)) {
	for _, mixed := range []bool{false, true} {
		b.Run(fmt.Sprintf("bytes=64MiB/mixed=%t", mixed), func(b *testing.B) {
			l, size := largeLog(b, mixed)
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				read(b, l)
			}
			require.NoError(b, l.Close())
		})
	}
}

func BenchmarkSummary(b *testing.B) {
	benchmarkLarge(b, func(b *testing.B, l *Log) {
		_, err := l.Summary(b.Context())
		require.NoError(b, err)
	})
}

func BenchmarkHeads(b *testing.B) {
	benchmarkLarge(b, func(b *testing.B, l *Log) {
		for _, err := range l.Heads(b.Context(), Cursor{}) {
			require.NoError(b, err)
		}
	})
}

func BenchmarkSliceTo(b *testing.B) {
	for _, id := range []string{"kept", "new"} {
		b.Run("id="+id, func(b *testing.B) {
			benchmarkLarge(b, func(b *testing.B, l *Log) {
				_, err := l.SliceTo(b.Context(), io.Discard, time.Now(), strings.TrimPrefix(id, "kept"), "")
				require.NoError(b, err)
			})
		})
	}
}

func BenchmarkTail(b *testing.B) {
	l, _ := largeLog(b, false)
	for _, n := range []int{1, 20, 1000} {
		b.Run(fmt.Sprintf("heads=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := l.Tail(b.Context(), n)
				require.NoError(b, err)
			}
		})
	}
	require.NoError(b, l.Close())
}

func BenchmarkAppend(b *testing.B) {
	for _, synced := range []bool{false, true} {
		for _, callers := range []int{1, 8, 64} {
			b.Run(fmt.Sprintf("size=1KB/sync=%t/callers=%d", synced, callers), func(b *testing.B) {
				var writes, syncs atomic.Int64
				hooks := &seam.Seam{After: func(op seam.Op) {
					switch op.Kind {
					case seam.Write:
						writes.Add(1)
					case seam.Sync:
						syncs.Add(1)
					}
				}}
				l, err := open(b.TempDir(), &Options{Sync: synced}, hooks)
				require.NoError(b, err)
				e := Event{Name: "tool:post", Data: map[string]any{"text": strings.Repeat("x", 1000)}}
				b.ReportAllocs()
				b.ResetTimer()
				appendFrom(b, l, callers, e)
				b.ReportMetric(float64(writes.Load())/float64(b.N), "writes/op")
				b.ReportMetric(float64(syncs.Load())/float64(b.N), "syncs/op")
				require.NoError(b, l.Close())
			})
		}
	}
}

// appendFrom appends b.N events from so many goroutines.
func appendFrom(b *testing.B, l *Log, callers int, e Event) {
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if err := l.Append(b.Context(), e); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
