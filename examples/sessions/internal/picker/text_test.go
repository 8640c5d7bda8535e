package picker

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"

	"github.com/stretchr/testify/require"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain":           "plain",
		" a\tb\r\n c ":    "a b c",
		"a\x1b[31mb\x07":  "a\ufffd[31mb\ufffd",
		"a\u202eb\u2066c": "a\ufffdb\ufffdc",
		"\u2028a\xffb":    "a\ufffdb",
		"👩\u200d👧 👍\U0001f3fd ❤\ufe0f": "👩👧 👍 ❤",
		"e\u0301":            "é",
		"soft\u00adly\u200b": "softly",
	} {
		require.Equal(t, want, clean(text), "%q", text)
	}
	require.Equal(t, "a\n    b\ufffd", cleanLines("a\r\n\tb\x1b\n \n"))
}

func TestFit(t *testing.T) {
	t.Parallel()
	require.Equal(t, "abc", screen.Fit("abc", 3))
	require.Equal(t, "a…", screen.Fit("abc", 2))
	require.Empty(t, screen.Fit("abc", 0))
	require.Equal(t, "日…", screen.Fit("日本語", 4))
	require.Equal(t, "日本 ", pad("日本", 5))
	require.Equal(t, "日… ", pad("日本語", 4))
	require.Equal(t, "…/c", screen.FitEnd("/a/b/c", 3))
	require.Equal(t, "…語", screen.FitEnd("日本語", 4))
	require.Equal(t, "/a", screen.FitEnd("/a", 2))
	require.Empty(t, screen.FitEnd("/a", 0))
}

func TestWrap(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text  string
		width int
		want  string
	}{
		{"one two three", 7, "one two|three"},
		{"one two three", 6, "one|two|three"},
		{"onetwothree x", 4, "onet|woth|ree|x"},
		{"日本語です", 5, "日本|語で|す"},
		{"a\n\n  b c d", 4, "a||b c|d"},
		{"a\n\n  one two", 7, "a||  one|  two"},
		{"日a", 1, "…|a"},
		{"", 5, ""},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, strings.Join(wrap(tt.text, tt.width), "|"), "%q", tt.text)
	}
}

// TestWrapKeepsAll wraps odd texts: no line is too wide, and nothing but space
// is lost.
func TestWrapKeepsAll(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "word", " ", "  ", "\n", "日", "e\u0301", "👍", "🇵🇹", "ש", "longlonglong"}
	for range 2000 {
		var text strings.Builder
		for range r.IntN(30) {
			text.WriteString(pieces[r.IntN(len(pieces))])
		}
		width := 2 + r.IntN(20)
		lines := wrap(text.String(), width)
		for _, line := range lines {
			require.LessOrEqual(t, screen.Columns(line), width, "%q", text.String())
		}
		require.Equal(t, letters(text.String()), letters(strings.Join(lines, "")), "%q", text.String())
	}
}

func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}
