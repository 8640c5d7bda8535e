package sessionstore

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/index"
	"github.com/amplifier-go/sessionstorage/internal/testenv"
)

// TestCursorPoints walks through transcripts and looks at what cursors keep:
// little, all of the last messages, and something near every place before.
func TestCursorPoints(t *testing.T) {
	t.Parallel()
	r := testenv.Rand(t)
	last := testenv.Share(5_000, 50_000, 1_000_000)
	var at points
	for n := 1; n <= last; n++ {
		at = at.plus(index.Prefix{Lo: uint64(n)})
		if n > 3_000 && r.IntN(100) > 0 {
			continue
		}
		var got []int
		for _, p := range at {
			require.Equal(t, uint64(p.n), p.prefix.Lo)
			got = append(got, p.n)
		}
		require.Equal(t, placesKept(n), got)
		checkPlaces(t, n, got)
	}
	for range 10_000 {
		n := 1 + r.IntN(1<<r.IntN(31))
		checkPlaces(t, n, placesKept(n))
	}
}

func checkPlaces(t *testing.T, n int, places []int) {
	require.LessOrEqual(t, len(places), 32, n)
	for back := 0; back <= 16 && back < n; back++ {
		require.Contains(t, places, n-back)
	}
	for i := range places[1:] {
		above := n - places[i] + 1 // how far back the place after the next point is
		if above > 16 {
			require.LessOrEqual(t, n-places[i+1], 4*above, "%d: %v", n, places)
		}
	}
	if first := places[len(places)-1]; n <= 1<<furthest && first > exactly {
		require.LessOrEqual(t, n, 4*(n-first), "%d: %v", n, places)
	}
}

func someCursor(n int) Cursor {
	var at points
	for i := range n {
		at = at.plus(index.Prefix{Hi: uint64(i) * 0x9E3779B97F4A7C15, Lo: uint64(i)})
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
