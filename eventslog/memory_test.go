package eventslog

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var huge = flag.Int64("line", 8<<20, "`bytes` of the line that the test of memory reads")

// TestMemory reads a log with a huge line, and allocates little in all, but for the line
// itself where it gets another id: what is resident is measured by TestSoak.
func TestMemory(t *testing.T) {
	l := openIn(t, event("a")+"\n", nil)
	f, err := os.OpenFile(l.path(), os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"data": "`)
	pad := strings.Repeat("plain text \\n", 1<<16)
	for n := int64(0); n < *huge && err == nil; n += int64(len(pad)) {
		_, err = f.WriteString(pad)
	}
	require.NoError(t, err)
	_, err = f.WriteString(`", "event": "huge", "ts": "2026-01-01T00:00:00Z", "session_id": "s"}` + "\n" + event("z") + "\n")
	require.NoError(t, errors.Join(err, f.Close()))

	for name, read := range map[string]func(context.Context) (int, error){
		"Summary": func(ctx context.Context) (int, error) {
			sum, err := l.Summary(ctx)
			return sum.Total, err
		},
		"Heads": func(context.Context) (int, error) {
			all, _ := names(t, l, Cursor{})
			return len(all), nil
		},
		"At": func(ctx context.Context) (int, error) {
			h, err := l.At(ctx, 3)
			return h.Line, err
		},
		"Tail": func(ctx context.Context) (int, error) {
			tail, err := l.Tail(ctx, 5)
			return len(tail), err
		},
		"SliceTo": func(ctx context.Context) (int, error) { return l.SliceTo(ctx, io.Discard, time.Now(), "", "") },
		"SliceTo, ids": func(ctx context.Context) (int, error) {
			return l.SliceTo(ctx, io.Discard, time.Now(), "new", "parent")
		},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n, err := read(t.Context())
		runtime.ReadMemStats(&after)
		require.NoError(t, err, name)
		require.Equal(t, 3, n, name)
		most := uint64(6 << 20)
		if name == "SliceTo, ids" {
			most += uint64(*huge) // the line
		}
		require.Less(t, after.TotalAlloc-before.TotalAlloc, most, name)
	}
}
