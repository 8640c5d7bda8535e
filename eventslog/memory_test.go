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

// TestMemory reads a log with a huge line, and allocates the line and 16 MiB in all: what is
// resident is measured by TestSoak.
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
		"SliceTo": func(ctx context.Context) (int, error) {
			cut, err := l.SliceTo(ctx, io.Discard, time.Now(), "", "")
			return cut.Events, err
		},
		"SliceTo, ids": func(ctx context.Context) (int, error) {
			cut, err := l.SliceTo(ctx, io.Discard, time.Now(), "new", "parent")
			return cut.Events, err
		},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n, err := read(t.Context())
		runtime.ReadMemStats(&after)
		require.NoError(t, err, name)
		require.Equal(t, 3, n, name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(*huge)+maxMemory, name)
	}
}

// TestLongest reads a log with lines that are as long as a line may be, and longer: those are
// damaged, and reported with their number and size. Memory holds none of them.
func TestLongest(t *testing.T) {
	const most = 5000
	padded := func(name string, size int) string {
		head := `{"event": "` + name + `", "session_id": "s", "x": "`
		return head + strings.Repeat("x", size-len(head)-2) + `"}`
	}
	for _, end := range []string{"\n", ""} {
		l := openIn(t, "", &Options{SessionID: "s"})
		l.longest = most
		text := []string{
			event("a"), padded("fits", most), padded("b", most+1), padded("c", 3*blockSize), padded("d", 33<<20), event("e"),
			padded("last", 40<<20),
		}
		put(t, l, strings.Join(text, "\n")+end)
		want := []string{"a", "fits", "e"}
		little := func(read func()) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			read()
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(maxMemory))
		}
		var last Cursor
		little(func() {
			all, end := names(t, l, Cursor{})
			require.Equal(t, want, all)
			last = end
		})
		little(func() {
			sum, err := l.Summary(t.Context())
			require.NoError(t, err)
			require.Equal(t, map[string]int{"a": 1, "fits": 1, "e": 1}, sum.Types)
		})
		little(func() {
			h, err := l.At(t.Context(), 3)
			require.NoError(t, err)
			require.Equal(t, []any{6, "e", last}, []any{h.Line, h.Event, h.Next})
		})
		little(func() {
			tail, err := l.Tail(t.Context(), 2)
			require.NoError(t, err)
			require.Equal(t, []string{"fits", "e"}, []string{tail[0].Event, tail[1].Event})
		})
		for _, id := range []string{"", "new"} {
			little(func() {
				var out strings.Builder
				cut, err := l.SliceTo(t.Context(), &out, time.Now(), id, "")
				require.NoError(t, err)
				require.Equal(t, Cut{Events: 3, Skipped: 4}, cut)
				require.Equal(t, 3, strings.Count(out.String(), "\n"))
			})
		}
		little(func() {
			refs, wrong, err := l.Refs(t.Context())
			require.NoError(t, err)
			require.Len(t, refs, 3)
			require.Equal(t, []string{
				"line 1: unscoped_event", "line 3: event_too_long: it has 5001 bytes", "line 4: event_too_long: it has 786432 bytes",
				"line 5: event_too_long: it has 34603008 bytes", "line 6: unscoped_event", "line 7: event_too_long: it has 41943040 bytes",
			}, texts(wrong))
		})
		little(func() {
			for range l.Usage(t.Context(), nil) {
				t.Error("nothing was used")
			}
		})
	}
}

func texts(wrong []RowError) (all []string) {
	for _, w := range wrong {
		all = append(all, w.Error())
	}
	return all
}
