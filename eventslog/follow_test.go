package eventslog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestFollow lets a reader, which is stopped and started again, follow a
// log that is appended to, cut, rewritten, replaced and removed: in the end it
// has seen exactly what the log holds.
func TestFollow(t *testing.T) {
	t.Parallel()
	l := openIn(t, "", nil)
	random := testenv.Rand(t)
	var seen []string
	cur, n := Cursor{}, 0
	write := func(flag int, text string) {
		f, err := os.OpenFile(l.path(), flag|os.O_WRONLY|os.O_CREATE, 0o600)
		require.NoError(t, err)
		_, err = f.WriteString(text)
		require.NoError(t, errors.Join(err, f.Close()))
	}
	for range 25 {
		n++
		switch random.IntN(6) {
		case 0:
			write(os.O_TRUNC, event(fmt.Sprint("cut", n))+"\n")
		case 1:
			require.NoError(t, os.WriteFile(l.path()+".new", []byte(event(fmt.Sprint("new", n))+"\n"+event("x")+"\n"), 0o600))
			require.NoError(t, os.Rename(l.path()+".new", l.path()))
		case 2:
			require.NoError(t, ignoreMissing(os.Remove(l.path())))
		case 3:
			write(os.O_APPEND, event(fmt.Sprint("half", n))[:9])
		default:
			require.NoError(t, l.Append(t.Context(), Event{Name: fmt.Sprint("a", n)}, Event{Name: fmt.Sprint("b", n)}))
		}
		want, _ := names(t, l, Cursor{})
		cur, seen = followUntil(t, l, cur, seen, want)
	}
}

// followUntil follows until the events that were seen are want.
func followUntil(t *testing.T, l *Log, cur Cursor, seen, want []string) (Cursor, []string) {
	t.Helper()
	if slices.Equal(want, seen) {
		return cur, seen
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for h, err := range l.Follow(ctx, cur) {
		require.NoError(t, err, "seen %v of %v", seen, want)
		cur = h.Next
		if h.Rewritten {
			seen = nil
		} else {
			seen = append(seen, h.Event)
		}
		if slices.Equal(want, seen) {
			break
		}
	}
	return cur, seen
}

func TestFollowEnds(t *testing.T) {
	t.Parallel()
	l := openIn(t, event("a")+"\n"+event("waits for its end"), nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for h, err := range l.Follow(ctx, Cursor{}) {
		if last = err; err == nil {
			require.Equal(t, "a", h.Event)
			cancel()
		}
	}
	require.ErrorIs(t, last, context.Canceled)
	for h, err := range l.Follow(t.Context(), Cursor{}) {
		if last = err; err == nil {
			require.Equal(t, "a", h.Event)
			require.NoError(t, l.Close())
		}
	}
	require.ErrorIs(t, last, fs.ErrClosed)
}
