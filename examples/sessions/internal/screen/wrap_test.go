package screen

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"one two\n", "one two\n"},
		{"one two three four", "one two\nthree four"},
		{"one two three four\nnext line of it\n", "one two\nthree four\nnext line\nof it\n"},
		{"  one two three four", "  one two\n  three\n  four"},
		{"an 11111111-0000-4000 stays whole", "an\n11111111-0000-4000\nstays\nwhole"},
		{"日本語の長いテキスト", "日本語の長\nいテキスト"},
		{"> 日本語の長いテキスト", "> 日本語の\n長いテキス\nト"},
		{"a 日本 b 日本 c", "a 日本 b\n日本 c"},
		{"\x1b[32mone two\x1b[0m three four", "\x1b[32mone two\x1b[0m\nthree four"},
		{"ends in spaces here     ", "ends in\nspaces\nhere     "},
		{"                 deep indent of it", "deep\nindent of\nit"},
		{"e\u0301e\u0301e\u0301e\u0301 e\u0301e\u0301e\u0301e\u0301e\u0301", "e\u0301e\u0301e\u0301e\u0301 e\u0301e\u0301e\u0301e\u0301e\u0301"},
	} {
		require.Equal(t, tt.want, Wrap(tt.text, 10), tt.text)
	}
	require.Equal(t, "one two", Wrap("one two", 0))
}

// TestWrapAtRandom breaks texts of odd parts: all words are there, and no line is too
// wide without need.
func TestWrapAtRandom(t *testing.T) {
	t.Parallel()
	parts := []string{"one", "three", " ", " ", "\n", "\t", "日本語", "\x1b[1m", "e\u0301", "\u200d", "❤\ufe0f", "a-long-word", "\u202e", "x"}
	for seed := range uint64(2_000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var text strings.Builder
		for range rng.IntN(20) {
			text.WriteString(parts[rng.IntN(len(parts))])
		}
		wrapsWell(t, Lines(text.String()), rng.IntN(12)-1)
	}
}

func wrapsWell(t *testing.T, text string, width int) {
	t.Helper()
	got := Wrap(text, width)
	require.Equal(t, strings.Join(strings.Fields(text), ""), strings.Join(strings.Fields(got), ""))
	for line := range strings.SplitSeq(got, "\n") {
		if width > 0 && Columns(line) > width && !spaceless(line) {
			require.NotContains(t, strings.TrimSpace(line), " ", "width %d of %q", width, text)
		}
	}
}

// TestPrintfWraps has answers and notes that are wider than their terminal, and
// answers that are for a pipe.
func TestPrintfWraps(t *testing.T) {
	t.Parallel()
	var out, err bytes.Buffer
	s := New(Options{Out: &out, Err: &err, Env: func(name string) string { return map[string]string{"COLUMNS": "10"}[name] }})
	s.Printf("%s three four\n", "one two")
	s.Notef("%s three four", "one two")
	require.Equal(t, "one two three four\n", out.String())
	require.Equal(t, "one two three four\n", err.String())
	out.Reset()
	err.Reset()
	s.outTTY, s.errTTY = true, true
	s.Printf("%s three four\n", "one two")
	s.Notef("%s three four", "one two")
	require.Equal(t, "one two\nthree four\n", out.String())
	require.Equal(t, "one two\nthree four\n", err.String())
}
