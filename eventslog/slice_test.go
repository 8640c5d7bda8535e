package eventslog

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

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
		text.WriteString(`{"session_id": "s", "data": "` + strings.Repeat("x", []int{10, 5000, 128 << 10, blockSize + 5}[i%4]) + `"}` + "\n")
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
		require.Equal(t, 12, n.Events)
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
