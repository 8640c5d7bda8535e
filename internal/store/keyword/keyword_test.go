package keyword

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
)

func TestAppendLower(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"ASCII", "aZ[@`{", "az[@`{"},
		{"beyond ASCII", "CAFÉ ЖЁ Ǆ ẞ", "café жё ǆ ß"},
		{"dotted I", "İx", "i\u0307x"},
		{"kelvin and ångström", "\u212a\u212b", "kå"},
		{"sigma alone", "Σ", "σ"},
		{"sigma at the end", "ΟΔΟΣ", "οδος"},
		{"sigma before a quote", `"ΟΔΟΣ"`, `"οδος"`},
		{"sigma before an escape", `ΟΔΟΣ\n`, `οδος\n`},
		{"sigma inside", "ΟΣΟ", "οσο"},
		{"sigma at the start", " ΣΟ", " σο"},
		{"ignored around sigma", "Α\u0301'Σ.\u0301", "α\u0301'ς.\u0301"},
		{"a letter behind what is ignored", "ΑΣ.Α", "ασ.α"},
		{"a letter without case behind", "ΑΣ日", "ας日"},
		{"two sigmas", "ΑΣΣ", "ασς"},
		{"no UTF-8", "A\xffB\xc3", "a\xffb\xc3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, string(appendLower(nil, []byte(tt.text))))
		})
	}
}

// TestSteady makes sure of what the filter relies on: that only ASCII letters
// are the lower case of something else, and of what beyond ASCII.
func TestSteady(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) || r == utf8.RuneError {
			continue
		}
		for _, l := range string(appendLower(nil, []byte(string(r)))) {
			switch {
			case l == r || !steady(l):
			case 'A' <= r && r <= 'Z':
				require.Equal(t, r+'a'-'A', l)
			default:
				require.Contains(t, []rune{kelvinSign, dottedI}, r)
				require.Contains(t, "ki", string(l))
			}
		}
	}
}

// has looks for text in the lines one by one, decoding each, and requires that
// all of them as a block give the same, and each alone.
func has(tb testing.TB, text, lines string) bool {
	tb.Helper()
	r := New(text).Reader()
	found := false
	for line := range jsonl.Lines([]byte(lines)) {
		want := r.valid && r.inLine(line)
		require.Equal(tb, want, r.inBlock(line.Bytes), "%q in %q", text, line.Bytes)
		found = found || want
	}
	require.Equal(tb, found, r.inBlock([]byte(lines)), "%q in %q", text, lines)
	return found
}

func TestKeyword(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, line, text string
		want             bool
	}{
		{"any case", `{"content": "Find the NEEDLE here"}`, "needle HERE", true},
		{"not there", `{"content": "Find the NEEDLE here"}`, "needles", false},
		{"over the end of a string", `{"a": "b", "c": 1}`, `b", "C": 1}`, true},
		{"Python's spaces", `{"role":"user","a" :[1,2]}`, `"role": "user", "a": [1, 2]`, true},
		{"no spaces of the line", `{"role":"user"}`, `"role":"user"`, false},
		{"escaped ASCII", `{"a": "\u006eeedle"}`, "needle", true},
		{"escaped, as it stands", `{"a": "\u006eeedle"}`, "u006e", false},
		{"escaped letter beyond", `{"a": "caf\u00e9"}`, "CAFÉ", true},
		{"pair", `{"a": "\ud83d\ude00"}`, "😀", true},
		{"lone surrogate", `{"a": "\ud800"}`, "ud800", false},
		{"around a lone surrogate", `{"a": "x\\\ud800\\udy"}`, `x\\`, true},
		{"behind a lone surrogate", `{"a": "x\\\ud800\\udy"}`, `\\udy`, true},
		{"over a lone surrogate", `{"a": "x\ud800y"}`, "xy", false},
		{"not the replacement", `{"a": "x\ud800y"}`, "x\ufffdy", false},
		{"control character", `{"a": "\u001B[0m"}`, `\u001b[0m`, true},
		{"line break", `{"a": "b\nc"}`, `B\NC`, true},
		{"line break itself", `{"a": "b\nc"}`, "b\nc", false},
		{"slash", `{"a": "b\/c"}`, "b/c", true},
		{"escaped slash", `{"a": "b\/c"}`, `b\/c`, false},
		{"float", `{"a": 1E5}`, "100000.0", true},
		{"float as it stands", `{"a": 1E5}`, "1e5", false},
		{"exponent", `{"a": 10000000000000000.0}`, "e+16", true},
		{"overflow", `{"a": -1e999}`, "-Infinity", true},
		{"part of infinity", `{"a": 1e999}`, "FIN", true},
		{"NaN", `{"a": NaN}`, "nan", true},
		{"integer", `{"a": 12345678901234567890123}`, "4567890123", true},
		{"letters and digits", `{"a": "issue-1.5e3"}`, "SUE-1.5", true},
		{"first of two members", `{"a": "needle", "a": 1}`, "needle", false},
		{"last of two members", `{"a": 1, "a": "needle"}`, "needle", true},
		{"kelvin", "{\"a\": \"\u212aey\"}", "key", true},
		{"key as kelvin", `{"a": "key"}`, "\u212aEY", true},
		{"escaped kelvin", `{"a": "\u212Aey"}`, "key", true},
		{"dotted I", `{"a": "abİ"}`, "abi", true},
		{"escaped dotted I", `{"a": "ab\u0130"}`, "abi", true},
		{"letter of an escape", `{"a": "\u000aeedle"}`, "needle", true},
		{"quote as an escape", `{"a": "x\u0022y"}`, `x\"y`, true},
		{"other escapes around", `{"a": "\u001b\u00e9\ud83d\ude00needle"}`, "NEEDLE", true},
		{"digits of another escape", `{"a": "\u4e2dneedle"}`, "e2dneedle", false},
		{"path", `{"a": "C:\\users\\needle"}`, `c:\\users`, true},
		{"beyond ASCII, escaped", `{"a": "\u65e5\u672c"}`, "日本", true},
		{"second line", "{\"a\": 1}\n{\"a\": \"needle\"}", "needle", true},
		{"behind blank lines", "\n\n\n\"needle\"\n\n", "needle", true},
		{"over two lines", "\"nee\"\n\"dle\"", `nee"\n"dle`, false},
		{"beside a line that holds a part", "\"needl\"\n\"Need\"\n\"xNeedles\"", "needle", true},
		{"no dot", `{"a": "abi"}`, "abİ", false},
		{"final sigma", `{"a": "ΟΔΟΣ"}`, "οδος", true},
		{"other sigma", `{"a": "ΟΔΟΣ"}`, "οδοσ", false},
		{"no case", `{"a": "日本語"}`, "本", true},
		{"half a character", `{"a": "é"}`, "\xa9", false},
		{"masked byte", `{"a": "\ud800"}`, "\xff", false},
		{"empty", `1`, "", true},
		{"empty, no row", `{`, "", false},
		{"no object", `["needle"]`, "needle", true},
		{"no JSON", `{"a": "needle"`, "needle", false},
		{"row behind one", "{bad\n[\"needle\"]", "needle", true},
		{"blank", "\n \n", " ", false},
		{"no UTF-8", "\"needle\xff\"", "needle", false},
		{"byte order mark", "\ufeff\"needle\"", "needle", false},
		{"split at CR", "{bad\r\"needle\"", "needle", true},
		{"space around", "\u00a0\"needle\"\u2028", "needle", true},
		{"longer than the line", `1`, "needle", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, has(t, tt.text, tt.line))
		})
	}
}
