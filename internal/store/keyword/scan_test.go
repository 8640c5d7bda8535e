package keyword

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m, nil) }

// checkUTF8 compares both ways with the standard library.
func checkUTF8(t *testing.T, b []byte) {
	want := utf8.Valid(b)
	if ValidUTF8(b) != want || valid(b) != want {
		require.Equal(t, want, valid(b), "without blocks: %x", b)
		require.Equal(t, want, ValidUTF8(b), "%x", b)
	}
	if last := len(b) - vectorSize; want && hasBlocks && last >= vectorSize && b[2] < utf8.RuneSelf {
		require.Greater(t, validBlocks(&b[0], before, last), last, "blocks refuse %x", b)
	}
}

// utfLimits are bytes at the utfLimits of what UTF-8 allows at some place.
var utfLimits = []string{"x", "\x7f", "\x80", "\x8f", "\x90", "\x9f", "\xa0", "\xbf", "\xc0", "\xc2", "\xe1", "\xf1"}

func TestValidUTF8(t *testing.T) {
	t.Parallel()
	for c := range 1 << 16 {
		two := []byte{byte(c >> 8), byte(c)}
		checkUTF8(t, two)
		for _, third := range utfLimits[:len(utfLimits)*(c>>15)] {
			checkUTF8(t, append(two, third...))
		}
	}
}

// TestValidUTF8InBlocks has four bytes across the end of a block.
func TestValidUTF8InBlocks(t *testing.T) {
	t.Parallel()
	b := []byte(strings.Repeat("x", 6*vectorSize))
	at := 2*vectorSize + before
	for first := range 1 << 8 {
		for i, second := range utfLimits {
			for _, third := range utfLimits {
				for _, fourth := range utfLimits[1:6] {
					place := at - (first+i)%5
					b[place] = byte(first)
					copy(b[place+1:], second+third+fourth)
					checkUTF8(t, b)
					copy(b[place:], "xxxx")
				}
			}
		}
	}
}

func TestValidUTF8AtEveryPlace(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"日", "😀", "é", "\xff", "\x80", "é\x80", "日\x80", "😀\x80", "\xed\xa0\x80", "\xf0\x9f\x98", "\xe6\x97", "\xc3", "\xf4\x90\x80\x80"} {
		for _, around := range []string{"x", "é", "日", "😀"} {
			for n := range 70 {
				text := strings.Repeat(around, n) + s
				for rest := range 70 {
					checkUTF8(t, []byte(text+strings.Repeat("y", rest)))
				}
				checkUTF8(t, []byte("123"[:n%4]+text+strings.Repeat(around, 40)))
			}
		}
	}
}

// TestValidUTF8AfterAWhile has what is wrong so far behind a wide character
// that blocks are taken for plain again.
func TestValidUTF8AfterAWhile(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"\xf0\x9f\x98", "\xe6\x97", "\xc3", "\x80", "日"} {
		for n := range 20 * vectorSize {
			checkUTF8(t, []byte("xxxé"+strings.Repeat("x", n)+s+strings.Repeat("y", 3*vectorSize)))
		}
	}
}

// place is Index byte by byte.
func (p Pair) place(b []byte, from int) int {
	lower := func(c byte) byte {
		if 'A' <= c && c <= 'Z' {
			return c + 'a' - 'A'
		}
		return c
	}
	for i := from; i+p.distance < len(b); i++ {
		if lower(b[i]) == p.first && lower(b[i+p.distance]) == p.second {
			return i
		}
	}
	return len(b)
}

func checkPair(t *testing.T, p Pair, b []byte) {
	t.Helper()
	for from := 0; from <= len(b); from++ {
		want := p.place(b, from)
		require.Equal(t, want, p.Index(b, from), "%+v in %q from %d", p, b, from)
		require.Equal(t, want, p.index(b, from), "without blocks: %+v in %q from %d", p, b, from)
		if last := len(b) - p.distance - vectorSize; hasBlocks && from <= last {
			at := indexPair(&b[0], from, last, p.distance, p.packed())
			require.True(t, at > last || p.isAt(b, at), "blocks: %+v in %q from %d", p, b, from)
		}
		from = max(from, want-1) // nothing is between
	}
}

// TestPair looks for every byte in what differs from it by little.
func TestPair(t *testing.T) {
	t.Parallel()
	for c := range 1 << 7 {
		if 'A' <= c && c <= 'Z' {
			continue
		}
		b := make([]byte, 0, 300)
		for i := range 140 {
			b = append(b, byte(c^1<<(i%8))&0x7f, byte(c^i)&0x7f)
		}
		checkPair(t, NewPair([]byte{byte(c)}, 0, 0), b)
		checkPair(t, NewPair([]byte{byte(c), '{'}, 0, 1), append(b, byte(c), '{', byte(c)))
	}
}

func TestPairAtRandom(t *testing.T) {
	t.Parallel()
	seed := testenv.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 8))
	letters := []byte("aAbB@`[{\x00 ")
	hits := 0
	for range 3000 {
		b := make([]byte, rnd.IntN(250))
		for i := range b {
			b[i] = letters[min(rnd.IntN(len(letters)), rnd.IntN(200))]
		}
		text := bytes.ToLower(append(bytes.Repeat([]byte{'a'}, rnd.IntN(60)), letters[rnd.IntN(len(letters))], 'b', '`'))
		p := NewPair(text, rnd.IntN(len(text)), rnd.IntN(len(text)))
		if p.place(b, 0) < len(b) {
			hits++
		}
		checkPair(t, p, b)
	}
	require.Greater(t, hits, 300, "seed %d", seed)
}

func TestPairBeyondASCII(t *testing.T) {
	t.Parallel()
	b := []byte(strings.Repeat("der große Österreicher ", 9) + "ÖsterreichischE\xd6\xf6")
	for _, text := range []string{"ße", "ö", "Ö", "\xf6"} {
		checkPair(t, NewPair([]byte(text), len(text)-1, 0), b)
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte("needle"), 1, 4, []byte(strings.Repeat("NEE dle ", 20)+"nEEDle"))
	f.Add([]byte(`\u`), 0, 1, []byte(strings.Repeat(`\\n`, 50)+`\u0041`))
	for _, s := range []string{"", "0123456789abcdef日本語0123456789", "\xc3\xa9\xff", "\xf4\x8f\xbf\xbf\xf4\x90\x80\x80"} {
		f.Add([]byte("9"), 0, 0, []byte(s))
		f.Add([]byte(" 😀"), 0, 2, []byte(strings.Repeat("0123 é 日 😀", 9)+s+strings.Repeat("0123456789", 9)))
	}
	f.Fuzz(func(t *testing.T, text []byte, first, second int, b []byte) {
		checkUTF8(t, b)
		text = bytes.ToLower(bytes.Map(func(r rune) rune { return r & 0x7f }, text))
		if first < 0 || second < 0 || first >= len(text) || second >= len(text) {
			return
		}
		checkPair(t, NewPair(text, first, second), b)
	})
}

func BenchmarkScan(b *testing.B) {
	text := []byte(strings.Repeat(`{"role": "user", "content": "the café writes \"日本語\" and then → returns C:\\dir an error"}`+"\n", 100))
	b.Run("what=utf8", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			require.True(b, ValidUTF8(text))
		}
	})
	b.Run("what=pair", func(b *testing.B) {
		p := NewPair([]byte("zebra"), 0, 2)
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			require.Equal(b, len(text), p.Index(text, 0))
		}
	})
	b.Run("what=pair/blocks=no", func(b *testing.B) {
		p := NewPair([]byte("zebra"), 0, 2)
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			require.Equal(b, len(text), p.index(text, 0))
		}
	})
}
