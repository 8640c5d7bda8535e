package pyjson

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ends requires that the ends of the sound values that begin anywhere in b are
// those that are found byte by byte, and goes over what is not sound.
func ends(tb testing.TB, b []byte) (sound int) {
	tb.Helper()
	for i, c := range b {
		want, got := 0, 0
		switch c {
		case '"':
			want, got = plainSkipString(b, i), skipString(b, i)
		case '{', '[':
			want, got = plainSkipContainer(b, i), skipContainer(b, i)
		default:
			continue
		}
		if got > len(b) || got <= i {
			tb.Fatalf("end at %d of what begins at %d of %q", got, i, b)
		}
		if Check(b[i:want], either) != nil {
			continue
		}
		if sound++; got != want {
			tb.Fatalf("end at %d, not %d, of what begins at %d of %q", got, want, i, b)
		}
	}
	return sound
}

// sound appends a random value.
func sound(r *rand.Rand, b []byte, depth int) []byte {
	texts := []string{
		``, `x`, `\"`, `\\`, `{`, `}`, `[`, `]`, `\"}]`, `ö日🚀`, `\\\"`, strings.Repeat("text ", 12), strings.Repeat(`\\`, 31), strings.Repeat(`\"`, 33),
		strings.Repeat("[", 70), strings.Repeat("]", 70), `\ud83d\u005c`,
	}
	str := func(b []byte) []byte {
		b = append(b, '"')
		for range r.IntN(4) {
			b = append(b, texts[r.IntN(len(texts))]...)
		}
		return append(b, '"')
	}
	kind := r.IntN(6)
	if kind < 3 || depth == 0 {
		return append(str(b), strings.Repeat(" ", r.IntN(3))...)
	}
	opening, closing := byte('['), byte(']')
	if kind < 5 {
		opening, closing = '{', '}'
	}
	b = append(b, opening)
	for i := range r.IntN(5) {
		if i > 0 {
			b = append(b, ',')
		}
		if opening == '{' {
			b = append(str(b), ':')
		}
		b = sound(r, b, depth-1)
	}
	return append(b, closing)
}

// TestEnds makes values at random, so that blocks begin and end at every place
// of what matters.
func TestEnds(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	values := 0
	for range 2000 {
		b := sound(r, []byte(strings.Repeat(" ", r.IntN(64))), 5)
		b = append(b, strings.Repeat("]", r.IntN(70))...)
		values += ends(t, b)
	}
	require.Greater(t, values, 20_000)
}

// TestEndsOfManyBackslashes has rows of them of every length, at every place of a block.
func TestEndsOfManyBackslashes(t *testing.T) {
	t.Parallel()
	for n := range 140 {
		for before := range 65 {
			b := []byte(strings.Repeat(" ", before) + `{"` + strings.Repeat(`\\`, n) + `\"}": ["` + strings.Repeat(`\\`, n) + `"]}` + strings.Repeat("}", 70))
			require.Equal(t, strings.Index(string(b), `"]}`)+len(`"]}`), skipContainer(b, before))
			require.Equal(t, strings.Index(string(b), `: [`), skipString(b, before+1))
		}
	}
}

func TestEndsOfWhatHasNone(t *testing.T) {
	t.Parallel()
	for n := range 200 {
		for _, text := range []string{`"` + strings.Repeat("a", n), `"` + strings.Repeat(`\"`, n), `{` + strings.Repeat(`[]`, n), `[` + strings.Repeat(`"]"`, n)} {
			require.Equal(t, len(text), skipValue([]byte(text), 0), text)
		}
	}
}

// FuzzParts finds the ends of values, the text of strings and the members of
// the elements of lists.
func FuzzParts(f *testing.F) {
	for _, s := range []string{
		strings.Repeat(`{"a\\\"": ["}"]}`, 9), `{"` + strings.Repeat(`\`, 127) + `"}`,
		strings.Repeat(`a line\nof \"text\"\t`, 40), strings.Repeat(`\\`, 40) + `\u0041` + strings.Repeat("x", 31) + `\`,
		`[{"a": 1}, {"b": [{"a": 2}], "a": "]"}]`, `[{}, 1]`, `[{`, `[{"a"`, `[{"a":`, `[{"a": 1`, `[{"a" 1}]`, `[{x}]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		ends(t, b)
		text(t, b)
		picks(t, b)
	})
}
