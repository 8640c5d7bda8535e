package sessionstore

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/jsonl"
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

// has looks for text in the lines, and requires that the filter changes
// nothing.
func has(tb testing.TB, text, lines string) bool {
	tb.Helper()
	k := newKeyword(text)
	r, slow := k.reading(), (&keyword{lower: k.lower, valid: k.valid}).reading()
	found := false
	for line := range jsonl.Lines([]byte(lines)) {
		want := slow.inLine(line)
		require.Equal(tb, want, r.inLine(line), "%q in %q", text, line.Bytes)
		found = found || want
	}
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
		{"dotted I", `{"a": "abİ"}`, "abi", true},
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

// pieces are what rows and keywords of the random test are made of.
var pieces = strings.Split(`a|K|k|İ|i|Σ|σ|ς|é|É|日|x|n|e|1|0|.|-|+|1e5|10000000000000000.0|1e999|-0|NaN|true|null|needle|NEEDLE|`+
	`\n|\u000a|\u006e|\u212a|\u0130|\ud800|\ud83d\ude00|\/|\\|\"|"|: | :|, |,|{|}|[|]| |_|ß|fin|infinity|\u0307|'`, "|")

func TestFilterAtRandom(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	some := func(n int) string {
		var b strings.Builder
		for range 1 + rnd.IntN(n) {
			b.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		return b.String()
	}
	hits := 0
	for range 20_000 {
		line := `{"a": "` + strings.ReplaceAll(some(8), `"`, "") + `", "b":` + []string{"1e5", "1E400", `"x"`, "[true]", "-0"}[rnd.IntN(5)] + "}"
		if has(t, some(2), line) {
			hits++
		}
	}
	require.Greater(t, hits, 1000)
}

func FuzzFilter(f *testing.F) {
	f.Add("needle", `{"a": "NEEDLE"}`)
	f.Add("key", "{\"\u212aEY\":1E9}")
	f.Add(`b\n`, `"b\u000a"`)
	f.Add("u00", `"\u0000\ud800"`)
	f.Fuzz(func(t *testing.T, text, lines string) { has(t, text, lines) })
}

func TestKeywordReadsLongLines(t *testing.T) {
	t.Parallel()
	r := newKeyword("needle").reading()
	for _, size := range []int{readSize - 10, readSize, 2*readSize + 1, maxScratch + 1} {
		text := `"` + strings.Repeat("y", size) + "\"\n\"" + strings.Repeat("z", size) + `Needle"`
		r.in.Reset(strings.NewReader(text))
		found, err := r.inLines(t.Context(), "")
		require.NoError(t, err)
		require.True(t, found, size)
		require.LessOrEqual(t, cap(r.row)+cap(r.lower), 2*maxScratch)
		r.in.Reset(bytes.NewReader([]byte(text[:len(text)-3])))
		found, err = r.inLines(t.Context(), "")
		require.NoError(t, err)
		require.False(t, found, size)
	}
}
