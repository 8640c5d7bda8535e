package track

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestWindow reads files of lines around the size of the window and asks for
// each byte once.
func TestWindow(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("x", n-1) + "\n" }
	for name, text := range map[string]string{
		"nothing":          "",
		"empty lines":      "\n\n",
		"torn":             "torn",
		"torn behind":      "one\ntorn",
		"exact":            long(readBytes),
		"one more":         long(readBytes + 1),
		"one less":         long(readBytes-1) + "a\n",
		"long":             "a\n" + long(5*readBytes+7) + "b\n" + long(3*readBytes) + "c\n",
		"long and torn":    long(2*readBytes) + strings.Repeat("y", 2*readBytes),
		"torn as a window": strings.Repeat("y", readBytes),
		"many":             strings.Repeat("some words\n", readBytes/4),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w Window
			var got []byte
			for {
				lines, torn, err := w.Lines(t.Context(), strings.NewReader(text), int64(len(got)))
				require.NoError(t, err)
				if len(lines) == 0 {
					require.Equal(t, torn, len(text) > len(got))
					break
				}
				require.False(t, torn)
				require.True(t, bytes.HasSuffix(lines, []byte("\n")))
				got = append(got, lines...)
			}
			require.True(t, string(got) == text[:strings.LastIndexByte(text, '\n')+1])
		})
	}
}

// TestWindowHoldsTheLine: the longest line is held once, and nothing beside it.
func TestWindowHoldsTheLine(t *testing.T) {
	t.Parallel()
	size := 4*readBytes + testenv.Rand(t).IntN(readBytes)
	var w Window
	_, _, err := w.Lines(t.Context(), strings.NewReader(strings.Repeat("x", size)+"\n"), 0)
	require.NoError(t, err)
	require.Equal(t, size+1, cap(w.buf))
}

// shrunk has become empty since it told its size.
type shrunk struct{ *strings.Reader }

func (shrunk) Read([]byte) (int, error) { return 0, io.EOF }

func TestWindowOfShorterFile(t *testing.T) {
	t.Parallel()
	var w Window
	_, _, err := w.Lines(t.Context(), shrunk{strings.NewReader("one\n")}, 0)
	require.ErrorIs(t, err, ErrMoved)
}
