package pyjson_test

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// afterString is SkipString byte by byte.
func afterString(b []byte, i int) int {
	for i < len(b) {
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return -1
		case c != '\\':
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n == 1 {
				return -1
			}
			i += n
		case shortEscape.Match(b[i:]):
			i += 2
		case longEscape.Match(b[i:]):
			i += 6
		default:
			return -1
		}
	}
	return -1
}

var (
	shortEscape = regexp.MustCompile(`^\\["\\/bfnrt]`)
	longEscape  = regexp.MustCompile(`^\\u[0-9a-fA-F]{4}`)
)

func skipTexts() []string {
	return []string{
		``, `"`, `a"`, `a`, `\"`, `\""`, `\\"`, `\`, `\x"`, `\/\b\f\n\r\t"`, `\u12aF"`, `\u12g4"`, `\u12"`, `\ud800"`, "\x1f\"", "\x7f\"", "\x00\"",
		"é\"", "\xc3\"", "\xc0\x80\"", "\xc1\xbf\"", "\xc2\x80\"", "\xdf\xbf\"", "€\"", "\xe2\x82\"", "\xe0\x80\x80\"", "\xe0\x9f\xbf\"", "\xe0\xa0\x80\"",
		"\xed\x9f\xbf\"", "\xed\xa0\x80\"", "\xee\x80\x80\"", "\xef\xbf\xbf\"", "😀\"", "\xf0\x80\x80\x80\"", "\xf0\x8f\xbf\xbf\"", "\xf0\x90\x80\x80\"",
		"\xf3\xbf\xbf\xbf\"", "\xf4\x8f\xbf\xbf\"", "\xf4\x90\x80\x80\"", "\xf5\x80\x80\x80\"", "\xff\"", "\x80\"", "\xbf\"", "\xf0\x9f\x98\"", "日本語\"",
		"#$\"#$", "!\"", " \"", "]\\\\\"", "[\"", "\xe2\x82\xac\xe2\x82\xc0\"", "\xf0\x9f\xc0\x80\"", "\xf0\x9f\x98\xc0\"",
		"\xe2\"", "\xf0\"", "\xf0\x9f\"", `\R"`, `\2"`, `\F"`, `\N"`, `\4"`, `\"""`, `\/\\\/"`,
	}
}

// TestSkipString puts each text at every place of what is read at once.
func TestSkipString(t *testing.T) {
	t.Parallel()
	for _, text := range skipTexts() {
		for before := range 70 {
			for _, after := range []string{"", "x", strings.Repeat(`", "é": 1`, 10)} {
				b := []byte(strings.Repeat("p", before) + text + after)
				require.Equal(t, afterString(b, 0), pyjson.SkipString(b, 0), "%q", b)
				require.Equal(t, afterString(b, before), pyjson.SkipString(b, before), "%q from %d", b, before)
			}
		}
	}
}

// TestSkipStringLong joins texts at random, so that blocks begin and end at
// every place of each, and cuts what comes out anywhere.
func TestSkipStringLong(t *testing.T) {
	t.Parallel()
	texts := skipTexts()
	for i, text := range texts {
		texts[i] = strings.TrimSuffix(text, `"`)
	}
	random := rand.New(rand.NewPCG(1, 2))
	var sound []string // texts that can stand in a string
	for _, text := range texts {
		if afterString([]byte(text+`"`), 0) == len(text)+1 {
			sound = append(sound, text)
		}
	}
	for range 20_000 {
		var b []byte
		for size := random.IntN(300); len(b) < size; {
			from := sound
			if random.IntN(40) == 0 {
				from = texts
			}
			b = append(b, from[random.IntN(len(from))]...)
			b = append(b, "plain text of some length"[:random.IntN(26)]...)
		}
		b = append(append(b, '"'), "behind it"[:random.IntN(10)]...)
		b = b[:len(b)-min(len(b), max(0, random.IntN(60)-50))]
		from := min(len(b), random.IntN(4))
		require.Equal(t, afterString(b, from), pyjson.SkipString(b, from), "%q from %d", b, from)
		b = append([]byte("...."), b...)
		to := pyjson.SkipText(b, 4)
		require.Equal(t, to+1, afterString(append(bytes.Clone(b[:to]), '"'), 4), "%q to %d", b, to)
	}
}

// TestSkipTextGoesOn has text of every kind around the ends of blocks: it is
// gone over up to the quote, or to where less than a block is left.
func TestSkipTextGoesOn(t *testing.T) {
	t.Parallel()
	const block, begin = 32, 3
	if b := []byte(strings.Repeat("x", 2*block)); pyjson.SkipText(b, begin) == begin {
		return // this processor knows no blocks
	}
	for _, text := range []string{"x", `\\n`, `\\\"`, `\\`, "é", "日", "😀", `é\n😀\\日`} {
		for before := range 2 * block {
			head := strings.Repeat("p", begin+before) + strings.Repeat(text, 3*block)
			b := []byte(head + `"` + strings.Repeat("x", block))
			require.Equal(t, len(head), pyjson.SkipText(b, begin), "%q", b)
			require.Greater(t, pyjson.SkipText([]byte(head), begin), len(head)-block-len("😀"), "%q", head)
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
