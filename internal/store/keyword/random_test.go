package keyword

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// pieces are what rows and keywords of the random tests are made of.
var pieces = strings.Split(`a|K|k|İ|i|Σ|σ|ς|é|É|日|x|n|e|1|0|.|-|+|1e5|10000000000000000.0|1e999|-0|NaN|true|null|needle|NEEDLE|`+
	`\n|\u000a|\u001B|\u006e|\u004E|\u212a|\u0130|\u00E9|\u65e5|\ud800|\ud83d\ude00|😀|\/|\\|\"|"|: | :|, |,|{|}|[|]| |_|ß|ẞ|fin|infinity|\u0307|'`, "|")

func somePieces(rnd *rand.Rand, n int) string {
	var b strings.Builder
	for range 1 + rnd.IntN(n) {
		b.WriteString(pieces[rnd.IntN(len(pieces))])
	}
	return b.String()
}

// someLine is a row, more or less.
func someLine(rnd *rand.Rand) string {
	values := []string{"1e5", "1E400", `"x"`, "[true]", "-0", `"\udc00"`, "null"}
	text := strings.NewReplacer(`\"`, `\"`, `"`, "").Replace(somePieces(rnd, 8))
	return `{"a": "` + text + `", "b":` + values[rnd.IntN(len(values))] + "}"
}

func TestFilterAtRandom(t *testing.T) {
	t.Parallel()
	seed := testenv.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 2))
	hits := 0
	for range 20_000 {
		lines := someLine(rnd)
		for range rnd.IntN(3) {
			lines += "\n" + someLine(rnd)
		}
		if has(t, somePieces(rnd, 2), lines) {
			hits++
		}
	}
	require.Greater(t, hits, 1000, "seed %d", seed)
}

func FuzzFilter(f *testing.F) {
	f.Add("needle", `{"a": "NEEDLE"}`)
	f.Add("key", "{\"\u212aEY\":1E9}")
	f.Add(`b\n`, `"b\u000a"`)
	f.Add("u00", "\"\\u0000\\ud800\"\n\"U00\"")
	f.Fuzz(func(t *testing.T, text, lines string) { has(t, text, lines) })
}

// pythonFinds looks for keywords in lines as the reference does.
const pythonFinds = `
import json, sys
found = []
for keyword, line in json.load(sys.stdin):
    try:
        found.append(keyword.lower() in json.dumps(json.loads(line), ensure_ascii=False).lower())
    except json.JSONDecodeError:
        found.append(False)
json.dump(found, sys.stdout)
`

// TestKeywordAsPython compares with Python itself.
func TestKeywordAsPython(t *testing.T) {
	t.Parallel()
	seed := testenv.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 4))
	cases := make([][2]string, 20_000)
	for i := range cases {
		cases[i] = [2]string{somePieces(rnd, 3), someLine(rnd)}
		if at, line := rnd.IntN(len(cases[i][1])), cases[i][1]; i%4 == 0 && utf8.RuneStart(line[at]) {
			cases[i][0] = strings.ToValidUTF8(line[at:min(len(line), at+1+rnd.IntN(5))], "")
		}
	}
	in, err := json.Marshal(cases)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), testenv.Python(t), "-c", pythonFinds)
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	require.NoError(t, err)
	var want []bool
	require.NoError(t, json.Unmarshal(out, &want))
	require.Len(t, want, len(cases))
	hits := 0
	for i, c := range cases {
		require.Equal(t, want[i], New(c[0]).Reader().inBlock([]byte(c[1])), "seed %d: %q in %q", seed, c[0], c[1])
		if want[i] {
			hits++
		}
	}
	require.Greater(t, hits, len(cases)/10)
}

func TestKeywordReadsLongLines(t *testing.T) {
	t.Parallel()
	r := New("needle").Reader()
	for _, size := range []int{blockSize - 10, blockSize, 2*blockSize + 1, maxScratch + 1} {
		text := `"` + strings.Repeat("y", size) + "\"\n\"" + strings.Repeat("z", size) + `Needle"`
		found, err := r.Find(t.Context(), strings.NewReader(text))
		require.NoError(t, err)
		require.True(t, found, size)
		require.LessOrEqual(t, cap(r.row)+cap(r.lower), 2*maxScratch)
		found, err = r.Find(t.Context(), strings.NewReader(text[:len(text)-3]+"\xff"))
		require.Equal(t, &DamageError{Line: 2, Offset: int64(size + 3), Err: errNotUTF8}, err)
		require.False(t, found, size)
	}
	r.in.reset(nil)
	require.LessOrEqual(t, cap(r.in.buf), maxScratch)
}

func BenchmarkKeyword(b *testing.B) {
	text := strings.Repeat(`{"role": "user", "content": "the café writes \"日本語\" and then → returns C:\\dir an error"}`+"\n", 10_000)
	for _, keyword := range []string{"zebra", "eternity", `"role": "tool"`, "größe"} {
		b.Run(fmt.Sprintf("keyword=%s", keyword), func(b *testing.B) {
			r := New(keyword).Reader()
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				found, err := r.Find(b.Context(), strings.NewReader(text))
				require.NoError(b, err)
				require.False(b, found)
			}
		})
	}
}
