package eventslog

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestParts reads logs in parts of every small size, with several workers:
// together they find each line once.
func TestParts(t *testing.T) {
	t.Parallel()
	r := seeded(t)
	for range 30 {
		var text strings.Builder
		for text.Len() < r.IntN(400) {
			text.WriteString([]string{"{}", event("abc"), "bad", "", " ", `{"data": "` + strings.Repeat("x", r.IntN(60)) + `"}`}[r.IntN(6)])
			text.WriteString([]string{"\n", "\n", "\r\n", "\r", "\n\r", ""}[r.IntN(6)])
		}
		for _, newer := range []bool{false, true} {
			l := &Log{newer: newer, sessionID: "s"}
			src := strings.NewReader(text.String())
			whole := &parting{size: math.MaxInt64, count: 1, workers: 1}
			want := offsets(t, l, src, whole)
			for size := int64(1); size < 50; size += 1 + r.Int64N(5) {
				p := &parting{size: size, count: int(src.Size()/size) + 1, workers: 3}
				require.Equal(t, want, offsets(t, l, src, p), "parts of %d of %q", size, text.String())
			}
		}
	}
}

// offsets returns where the events begin.
func offsets(t *testing.T, l *Log, src *strings.Reader, p *parting) map[int64]int64 {
	t.Helper()
	var mu sync.Mutex
	found := map[int64]int64{}
	err := p.run(t.Context(), func(ctx context.Context, _ int) error {
		rs := emptyRecords(l.newer)
		for part, ok := p.next(); ok; part, ok = p.next() {
			err := l.each(ctx, rs, src, part, func(rec record) error {
				mu.Lock()
				defer mu.Unlock()
				if _, ok := found[rec.offset]; ok {
					return errors.New("found twice")
				}
				found[rec.offset] = rec.size
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, err)
	return found
}

// TestPartGrows takes the parts behind one's own, but none that somebody has.
func TestPartGrows(t *testing.T) {
	t.Parallel()
	p := &parting{size: 10, count: 6}
	first, _ := p.next()
	second, _ := p.next()
	require.False(t, first.extend())
	require.Equal(t, int64(10), first.to)
	require.True(t, second.extend())
	require.Equal(t, int64(30), second.to)

	second.pass(39) // a line may begin in the next part
	require.Equal(t, int64(30), second.to)
	second.pass(51)
	require.Equal(t, int64(50), second.to)

	last, ok := p.next()
	require.True(t, ok)
	require.Equal(t, part{of: p, number: 5, from: 50, to: math.MaxInt64}, last)
	require.False(t, last.extend())
	_, ok = p.next()
	require.False(t, ok)

	p = &parting{size: 10, count: 2}
	first, _ = p.next()
	require.True(t, first.extend())
	require.Equal(t, int64(math.MaxInt64), first.to)
}

// TestPartsEnd lets one worker fail: the others stop, and its error is told.
func TestPartsEnd(t *testing.T) {
	t.Parallel()
	p := &parting{size: 1, count: 1 << 30, workers: 3}
	stop := errors.New("stop")
	err := p.run(t.Context(), func(ctx context.Context, worker int) error {
		if worker == 0 {
			return stop
		}
		<-ctx.Done()
		return ctx.Err()
	})
	require.ErrorIs(t, err, stop)
}

// failing fails after some bytes.
type failing struct {
	left int
	err  error
}

func (f *failing) Write(p []byte) (int, error) {
	if len(p) > f.left {
		n := f.left
		f.left = 0
		return n, f.err
	}
	f.left -= len(p)
	return len(p), nil
}

// TestSliceEnds cancels slices and lets the writer fail, at every block.
func TestSliceEnds(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	for i := range 12 {
		text.WriteString(`{"session_id": "s", "data": "` + strings.Repeat("x", []int{10, 5000, maxShort, blockSize + 5}[i%4]) + `"}` + "\n")
	}
	l := openIn(t, text.String(), nil)
	full := errors.New("full")
	for _, id := range []string{"", "new"} {
		for left := 0; left < text.Len(); left += 1 << 16 {
			n, err := l.SliceTo(t.Context(), &failing{left: left, err: full}, time.Now(), id, "")
			require.ErrorIs(t, err, full)
			require.Zero(t, n)
		}
		n, err := l.SliceTo(t.Context(), io.Discard, time.Now(), id, "")
		require.NoError(t, err)
		require.Equal(t, 12, n)
		ctx, cancel := context.WithCancel(t.Context())
		_, err = l.SliceTo(ctx, writerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil }), time.Now(), id, "")
		require.ErrorIs(t, err, context.Canceled)
		_, err = l.Summary(ctx)
		require.ErrorIs(t, err, context.Canceled)
	}
}

// TestSliceOfNothing writes nothing.
func TestSliceOfNothing(t *testing.T) {
	t.Parallel()
	l := openIn(t, `{"ts": "2026-01-01T00:00:00Z"}`+"\n", nil)
	n, err := l.SliceTo(t.Context(), writerFunc(func([]byte) (int, error) { return 0, io.ErrClosedPipe }), time.Time{}, "", "")
	require.NoError(t, err)
	require.Zero(t, n)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
