package screen

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// odd is text of all kinds that terminals show in their own way.
func odd(r *rand.Rand, n int) string {
	runes := []rune("ab c—é日本語🚀👩‍👩‍👧\u0301\u200d\ufe0f\x1b\x00\r\n\t\x7f\u009b\u202e\u2028\ufeff\U000e0041｛")
	var b strings.Builder
	for range n {
		if r.IntN(20) == 0 {
			b.WriteByte(byte(0x80 + r.IntN(128))) // not UTF-8
		}
		b.WriteRune(runes[r.IntN(len(runes))])
	}
	return b.String()
}

func TestPlainIsObeyedByNoTerminal(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		text := odd(r, r.IntN(40))
		for name, shown := range map[string]string{"Plain": Plain(text), "Lines": Lines(text)} {
			require.True(t, utf8.ValidString(shown), "%s of %q", name, text)
			for _, c := range shown {
				if c == '\n' && name == "Lines" {
					continue
				}
				require.False(t, unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c), "%s of %q is %q", name, text, shown)
			}
		}
	}
	require.Equal(t, "a b c \ufffd[31m", Plain("a\nb\tc\r\x1b[31m"))
	require.Equal(t, "a\nb    c\n", Lines("a\r\nb\tc\n"))
}

func TestFit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text    string
		columns int
		want    string
	}{
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"ab", 1, "…"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"", 0, ""},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, Fit(tt.text, tt.columns), "%q in %d", tt.text, tt.columns)
	}
	require.Equal(t, "…本語", FitEnd("日本語", 5))
	require.Equal(t, "…e\u0301", FitEnd("e\u0301e\u0301e\u0301", 2))
	require.Equal(t, "short", FitEnd("short", 5))
	require.Empty(t, FitEnd("short", 0))
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		text, columns := Plain(odd(r, r.IntN(30))), 1+r.IntN(40)
		require.LessOrEqual(t, Columns(Fit(text, columns)), columns, "%q in %d", text, columns)
		require.LessOrEqual(t, Columns(FitEnd(text, columns)), columns, "%q in %d", text, columns)
	}
}
