package screen

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

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestNewInAPipe(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := New(Options{Out: &out, Env: env(map[string]string{"COLUMNS": "37"})})
	require.False(t, s.Terminal())
	require.False(t, s.Answers())
	require.Equal(t, 37, s.Width())
	require.Equal(t, "text", s.Paint(Red, "text"))
	s = New(Options{Out: &out, Env: env(nil), Colour: "always"})
	require.Equal(t, fallbackWidth, s.Width())
	require.Equal(t, "\x1b[31mtext\x1b[0m", s.Paint(Red, "text"))
	require.Empty(t, s.Paint(Red, ""))
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]bool{"y\n": true, "YES\n": true, " y ": true, "n\n": false, "\n": false, "yep\n": false} {
		var asked bytes.Buffer
		s := New(Options{In: strings.NewReader(input), Err: &asked, Env: env(nil)})
		got, err := s.Confirm(t.Context(), "Sure?")
		require.NoError(t, err)
		require.Equal(t, want, got, "%q", input)
		require.Equal(t, "Sure? [y/N]: \n", asked.String())
	}
	for _, in := range []io.Reader{strings.NewReader(""), nil} {
		s := New(Options{In: in, Err: io.Discard, Env: env(nil)})
		_, err := s.Confirm(t.Context(), "Sure?")
		require.ErrorIs(t, err, io.EOF)
	}
}

// TestAskLeavesTheRest asks twice.
func TestAskLeavesTheRest(t *testing.T) {
	t.Parallel()
	s := New(Options{In: strings.NewReader("one\ntwo"), Err: io.Discard, Env: env(nil)})
	for _, want := range []string{"one", "two"} {
		got, err := s.Ask(t.Context(), "?")
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestAskEndsWithContext(t *testing.T) {
	t.Parallel()
	in, typed := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := New(Options{In: in, Err: io.Discard, Env: env(nil)})
	_, err := s.Ask(ctx, "?")
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, typed.Close()) // the read that went on ends
}

func TestProgress(t *testing.T) {
	t.Parallel()
	var drawn, out bytes.Buffer
	s := &Screen{out: &out, err: &drawn, errTTY: true, errors: 60}
	begin := time.Now()
	p := s.Progress("reading", 4)
	require.GreaterOrEqual(t, p.next.Load(), begin.Add(barAfter).UnixNano())
	p.next.Store(begin.Add(time.Hour).UnixNano())
	p.Step(1)
	require.Empty(t, drawn.String(), "it is too soon")
	p.next.Store(begin.UnixNano())
	p.Step(1)
	require.Equal(t, "\r\x1b[Kreading "+strings.Repeat("━", 12)+strings.Repeat("─", 12)+" 2/4", drawn.String())
	drawn.Reset()
	s.Printf("found\n")
	require.Equal(t, "\r\x1b[K", drawn.String(), "it makes room")
	p.Done()
	require.Equal(t, "\r\x1b[K", drawn.String(), "there was nothing to wipe")
	require.Equal(t, "reading 7", bar("reading", 7, 0))
	require.Contains(t, bar("reading", 9, 4), "4/4")

	drawn.Reset()
	s.errTTY = false
	p = s.Progress("reading", 0)
	p.next.Store(0)
	p.Step(1)
	p.Done()
	require.Empty(t, drawn.String(), "only terminals have it")
}

func TestFailed(t *testing.T) {
	t.Parallel()
	full := errors.New("full")
	s := New(Options{Out: writer(func([]byte) (int, error) { return 0, full }), Env: env(nil)})
	require.NoError(t, s.Failed())
	s.Printf("text")
	require.ErrorIs(t, s.Failed(), full)
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }
