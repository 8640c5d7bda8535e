package eventslog

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// largeLog returns a log of 64 MiB: lines of 1 KB, and one of 4 MB for 2000 of them.
func largeLog(b *testing.B) (*Log, int64) {
	b.Helper()
	l, err := Open(b.TempDir(), nil)
	require.NoError(b, err)
	var buf bytes.Buffer
	text := strings.Repeat(`some text, \"quoted\" and with\nlines; `, 25)
	for i := 0; buf.Len() < 64<<20; i++ {
		if i%2000 == 1999 {
			fmt.Fprintf(&buf, `{"ts": "2026-01-01T00:00:00.%06d+00:00", "event": "llm:request", "data": {"raw": "%s"}, "session_id": "s"}`+"\n", i, strings.Repeat(text, 4000))
			continue
		}
		fmt.Fprintf(&buf, `{"ts": "2026-01-01T00:00:00.%06d+00:00", "lvl": "INFO", "schema": {"name": "amplifier.log", "ver": "1.0.0"}, "event": "tool:%d", "session_id": "s", "data": {"n": %d, "text": "%s"}}`+"\n", i, i%9, i, text)
	}
	require.NoError(b, os.WriteFile(l.path(), buf.Bytes(), 0o600))
	return l, int64(buf.Len())
}

func BenchmarkSummary(b *testing.B) {
	l, size := largeLog(b)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		_, err := l.Summary(b.Context())
		require.NoError(b, err)
	}
}

func BenchmarkHeads(b *testing.B) {
	l, size := largeLog(b)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range l.Heads(b.Context(), Cursor{}) {
			require.NoError(b, err)
		}
	}
}

func BenchmarkTail(b *testing.B) {
	l, _ := largeLog(b)
	b.ReportAllocs()
	for b.Loop() {
		_, err := l.Tail(b.Context(), 20)
		require.NoError(b, err)
	}
}

func BenchmarkSliceTo(b *testing.B) {
	l, size := largeLog(b)
	for _, id := range []string{"", "new"} {
		b.Run("id="+id, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				_, err := l.SliceTo(b.Context(), io.Discard, time.Now(), id, "")
				require.NoError(b, err)
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, sync := range []bool{false, true} {
		b.Run(fmt.Sprintf("size=1KB/sync=%t", sync), func(b *testing.B) {
			l, err := Open(b.TempDir(), &Options{Sync: sync})
			require.NoError(b, err)
			e := Event{Name: "tool:post", Data: map[string]any{"text": strings.Repeat("x", 1000)}}
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := l.Append(b.Context(), e); err != nil {
						b.Error(err)
					}
				}
			})
			require.NoError(b, l.Close())
		})
	}
}
