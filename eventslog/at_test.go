package eventslog

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAt asks for each event by its number: the answer is what Heads yields.
func TestAt(t *testing.T) {
	t.Parallel()
	classic := strings.Join([]string{
		event("a"), `{"event": "torn`, "", event("b") + "\r" + event("c"), `[1]`, `{"ts": "2026-01-01T00:00:01Z"}`,
		`{"event": "` + strings.Repeat("x", 3*blockSize) + `"}`, `{"event": "nan", "x": NaN}`, event("last"),
	}, "\n")
	newer := strings.Join([]string{
		event("a"), `{"event": "other", "session_id": "another"}`, `{"event": "nan", "x": NaN}`, event("b"), event("c") + "\r" + event("d"), "",
	}, "\n")
	for name, text := range map[string]string{"sess": classic, captureDir: newer, "torn": classic[:len(classic)-1], "none": "\n\n[]\n", "empty": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opener := Open
			if name == captureDir {
				opener = OpenCapture
			}
			l, err := opener(filepath.Join(t.TempDir(), "sess"), &Options{SessionID: "sess"})
			require.NoError(t, err)
			put(t, l, text)
			n := 0
			for want, err := range l.Heads(t.Context(), Cursor{}) {
				require.NoError(t, err)
				n++
				got, err := l.At(t.Context(), n)
				require.NoError(t, err)
				require.Equal(t, want, got)
			}
			for _, beyond := range []int{n + 1, n + 100, 0, -1} {
				_, err := l.At(t.Context(), beyond)
				require.ErrorIs(t, err, fs.ErrNotExist)
				require.ErrorContains(t, err, "read event: event ")
			}
			require.NoError(t, l.Close())
		})
	}
}

// TestAtOfNothing asks a log that is missing, one that is closed, and one whose
// caller has left.
func TestAtOfNothing(t *testing.T) {
	t.Parallel()
	l, err := Open(filepath.Join(t.TempDir(), "sess"), nil)
	require.NoError(t, err)
	_, err = l.At(t.Context(), 1)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "event 1 of 0")
	put(t, l, event("a")+"\n")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = l.At(ended, 1)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, l.Close())
	_, err = l.At(t.Context(), 1)
	require.ErrorIs(t, err, fs.ErrClosed)
}

// TestAtOfReplaced replaces the log: the number is that of the event in the new
// one.
func TestAtOfReplaced(t *testing.T) {
	t.Parallel()
	l := openIn(t, event("a")+"\n"+event("b")+"\n", nil)
	h, err := l.At(t.Context(), 2)
	require.NoError(t, err)
	require.Equal(t, "b", h.Event)
	require.NoError(t, os.Remove(l.path()))
	put(t, l, event("new")+"\n"+event("b2")+"\n"+event("c")+"\n")
	h, err = l.At(t.Context(), 2)
	require.NoError(t, err)
	require.Equal(t, "b2", h.Event)
	require.Equal(t, 2, h.Line)
}

// busy is a context that changes the log when it is asked for the nth time.
type busy struct {
	context.Context
	left   int
	change func()
}

func (b *busy) Err() error {
	if b.left--; b.left == 0 {
		b.change()
	}
	return nil
}

// TestAtOfRewritten writes the log anew while At reads it: it counts anew.
func TestAtOfRewritten(t *testing.T) {
	t.Parallel()
	l := openIn(t, strings.Repeat(event("old")+"\n", 100_000), nil)
	text := "broken\n" + strings.Repeat(event("new")+"\n", 100_000)
	h, err := l.At(&busy{t.Context(), 3, func() { require.NoError(t, os.WriteFile(l.path(), []byte(text), 0o600)) }}, 90_000)
	require.NoError(t, err)
	require.Equal(t, 90_001, h.Line)
	require.Equal(t, "new", h.Event)
}
