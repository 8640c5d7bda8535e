package sessionstore

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/store/index"
)

// TestCursorPoints walks through a transcript: a cursor keeps its own place and the 16
// before it. One of an earlier version, with places further back, loses those.
func TestCursorPoints(t *testing.T) {
	t.Parallel()
	var at points
	for n := 1; n <= 100; n++ {
		at = at.plus(index.Place{Rows: n, Prefix: index.Prefix{Lo: uint64(n)}})
		require.Len(t, at, min(n, 17))
		for i, p := range at {
			require.Equal(t, index.Place{Rows: n - i, Prefix: index.Prefix{Lo: uint64(n - i)}}, p)
		}
	}
	old, err := readPoints([]byte(append(at, index.Place{Rows: 64, Prefix: index.Prefix{Lo: 64}}, index.Place{Rows: 32, Prefix: index.Prefix{Lo: 32}}).cursor().points))
	require.NoError(t, err)
	require.Len(t, old, 19)
	require.Equal(t, at.plus(index.Place{Rows: 101}), old.plus(index.Place{Rows: 101}))
}

func someCursor(n int) Cursor {
	var at points
	for i := range n {
		at = at.plus(index.Place{Rows: i + 1, Prefix: index.Prefix{Hi: uint64(i) * 0x9E3779B97F4A7C15, Lo: uint64(i)}})
	}
	return at.cursor()
}

// TestCursorText writes and reads the text form.
func TestCursorText(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 17, 33, 1000, 70_000} {
		c := someCursor(n)
		var got Cursor
		require.NoError(t, got.UnmarshalText([]byte(c.String())))
		require.Equal(t, c, got)
		require.LessOrEqual(t, len(c.String()), 1<<10)
		at, err := readPoints([]byte(got.points))
		require.NoError(t, err)
		require.Equal(t, n, at.n())
		state, err := json.Marshal(map[string]Cursor{"at": c})
		require.NoError(t, err)
		var read map[string]Cursor
		require.NoError(t, json.Unmarshal(state, &read))
		require.Equal(t, c, read["at"])
	}
	require.Empty(t, Cursor{}.String())
}

// TestCursorRefused reads texts that are none, and leaves the cursor as it was.
func TestCursorRefused(t *testing.T) {
	t.Parallel()
	text := someCursor(40).String()
	for name, bad := range map[string]string{
		"foreign":       "e1." + strings.TrimPrefix(text, "m1."),
		"newer":         "m2." + strings.TrimPrefix(text, "m1."),
		"short":         text[:len(text)-1],
		"long":          text + "A",
		"huge":          text + strings.Repeat("A", 1<<20),
		"nothing":       "m1.",
		"no kind":       "hello",
		"blank":         " ",
		"line break":    text + "\n",
		"not backwards": cursorKind.Format(slices.Concat([]byte{1}, make([]byte, 16), []byte{1}, make([]byte, 16))),
		"zero":          cursorKind.Format(make([]byte, 17)),
		"torn point":    cursorKind.Format(make([]byte, 12)),
		"too many":      cursorKind.Format(slices.Repeat(append([]byte{100}, make([]byte, 16)...), 33)),
	} {
		c := someCursor(3)
		require.ErrorContains(t, c.UnmarshalText([]byte(bad)), "parse cursor: ", name)
		require.Equal(t, someCursor(3), c, name)
	}
	for i := range text {
		changed := []byte(text)
		changed[i] ^= 1
		require.Error(t, new(Cursor).UnmarshalText(changed))
	}
}

func FuzzCursor(f *testing.F) {
	for _, n := range []int{0, 1, 40, 1000} {
		f.Add(someCursor(n).String(), []byte(someCursor(n).points))
	}
	f.Fuzz(func(t *testing.T, text string, body []byte) {
		for _, text := range []string{text, cursorKind.Format(body)} {
			var c Cursor
			if c.UnmarshalText([]byte(text)) != nil {
				continue
			}
			require.Equal(t, text, c.String())
			at, err := readPoints([]byte(c.points))
			require.NoError(t, err)
			require.Equal(t, c, at.cursor())
		}
	})
}
