package pyjson

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// text requires that Text of s, which stands between quotes, is what AppendText
// makes of it, which goes from one backslash to the next.
func text(tb testing.TB, s []byte) {
	tb.Helper()
	if bytes.IndexByte(s, 0xed) >= 0 {
		return // such text is made by AppendText
	}
	str := append(append([]byte{'"'}, s...), '"')
	want := AppendText(nil, str)
	for i := 0; i+2 < len(want); i++ {
		if want[i] == 0xed && want[i+1] >= 0xa0 { // a surrogate that was escaped
			copy(want[i:], "\ufffd")
		}
	}
	if got := Text(str); got != string(want) {
		tb.Fatalf("%q of %q, not %q", got, s, want)
	}
}

// TestHead cuts strings everywhere: what is decoded is the beginning of the text, and no
// character is cut in two.
func TestHead(t *testing.T) {
	t.Parallel()
	for _, str := range []string{
		`""`, `"abc"`, `"\n\"\\"`, `"a\\\u0041\/"`, `"\u00e9\u00e9"`, `"\ud83d\ude00x"`, `"\ud83d\ud83d"`, `"é€😀é"`, "\"\xed\xa0\x80a\"", `7`, `["a"]`,
	} {
		all := Text([]byte(str))
		for most := range len(str) + 2 {
			text, whole := Head([]byte(str), most)
			require.True(t, strings.HasPrefix(all, text), "%s %d: %q", str, most, text)
			require.True(t, utf8.ValidString(text))
			require.True(t, text == all || !whole, "%s %d: %q", str, most, text)
			require.True(t, whole || most < len(str), "%s %d", str, most)
		}
	}
}

// TestTextOfMany joins texts at random, so that blocks begin and end at every
// place of each.
func TestTextOfMany(t *testing.T) {
	t.Parallel()
	texts := []string{
		"x", "\n", "日本", "😀", `\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`, `\u0041`, `\u00e9`, `\ud83d\ude00`, `\ud83d`, `\ude00`,
		strings.Repeat("a", 31), strings.Repeat("b", 32), strings.Repeat("é", 300), strings.Repeat(`\\`, 33), strings.Repeat(`\n`, 300),
	}
	wrong := []string{`\x`, `\`, `\u12`, `\é`, "\xff", `\u12g4`}
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 20_000 {
		some := texts
		if n%2 == 1 {
			some = append(wrong, texts...)
		}
		var s []byte
		for range r.IntN(12) {
			s = append(s, some[r.IntN(len(some))]...)
		}
		text(t, s)
		if n%2 == 1 {
			continue
		}
		str := append(append([]byte{'"'}, bytes.ReplaceAll(s, []byte("\n"), []byte(`\n`))...), '"')
		var want string
		require.NoError(t, json.Unmarshal(str, &want), "%s", str)
		require.Equal(t, want, Text(str), "%s", str)
	}
}
