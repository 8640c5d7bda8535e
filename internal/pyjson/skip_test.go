package pyjson_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// afterString is SkipString byte by byte, with what reads whole values.
func afterString(b []byte, i int) int {
	for end := i; end < len(b); end++ {
		if b[end] != '"' {
			continue
		}
		text := append([]byte{'"'}, b[i:end+1]...)
		if pyjson.Check(text, pyjson.Tolerant) == nil && pyjson.Check(text, pyjson.Strict) == nil {
			return end + 1
		}
	}
	return -1
}

func skipTexts() []string {
	return []string{
		``, `"`, `a"`, `a`, `\"`, `\""`, `\\"`, `\`, `\x"`, `\/\b\f\n\r\t"`, `\u12aF"`, `\u12g4"`, `\u12"`, `\ud800"`, "\x1f\"", "\x7f\"", "\x00\"",
		"é\"", "\xc3\"", "\xc0\x80\"", "\xc1\xbf\"", "\xc2\x80\"", "\xdf\xbf\"", "€\"", "\xe2\x82\"", "\xe0\x80\x80\"", "\xe0\x9f\xbf\"", "\xe0\xa0\x80\"",
		"\xed\x9f\xbf\"", "\xed\xa0\x80\"", "\xee\x80\x80\"", "\xef\xbf\xbf\"", "😀\"", "\xf0\x80\x80\x80\"", "\xf0\x8f\xbf\xbf\"", "\xf0\x90\x80\x80\"",
		"\xf3\xbf\xbf\xbf\"", "\xf4\x8f\xbf\xbf\"", "\xf4\x90\x80\x80\"", "\xf5\x80\x80\x80\"", "\xff\"", "\x80\"", "\xbf\"", "\xf0\x9f\x98\"", "日本語\"",
		"#$\"#$", "!\"", " \"", "]\\\\\"", "[\"", "\xe2\x82\xac\xe2\x82\xc0\"", "\xf0\x9f\xc0\x80\"", "\xf0\x9f\x98\xc0\"",
	}
}

// TestSkipString puts each text at every place of what is read at once.
func TestSkipString(t *testing.T) {
	t.Parallel()
	for _, text := range skipTexts() {
		for before := range 18 {
			for _, after := range []string{"", "x", strings.Repeat(`", "é": 1`, 4)} {
				b := []byte(strings.Repeat("p", before) + text + after)
				require.Equal(t, afterString(b, 0), pyjson.SkipString(b, 0), "%q", b)
				require.Equal(t, afterString(b, before), pyjson.SkipString(b, before), "%q from %d", b, before)
			}
		}
	}
}

func TestSkipPlain(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		special := c < ' ' || c == '"' || c == '\\' || c >= 0x80
		for before := range 18 {
			b := append(bytes.Repeat([]byte("#"), before), byte(c), '#', '!', ']', '[')
			want := len(b)
			if special {
				want = before
			}
			require.Equal(t, want, pyjson.SkipPlain(b, 0), "%q", b)
		}
	}
}

func FuzzSkipString(f *testing.F) {
	for _, text := range skipTexts() {
		f.Add([]byte(text))
		f.Add([]byte("0123456789" + text + "0123456789"))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		require.Equal(t, afterString(b, 0), pyjson.SkipString(b, 0), "%q", b)
	})
}
