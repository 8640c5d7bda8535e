package eventslog

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var someCursors = []Cursor{
	{},
	{Offset: 1, Line: 1, Sum: [16]byte{1, 2, 3}},
	{Offset: math.MaxInt64, Line: math.MaxInt, Sum: [16]byte{15: 0xff}},
	{Offset: 7, Line: -1},
	{Offset: -7},
	{Sum: [16]byte{1}},
}

// TestCursorText writes and reads the text form.
func TestCursorText(t *testing.T) {
	t.Parallel()
	for _, c := range someCursors {
		got := Cursor{Line: 12}
		require.NoError(t, got.UnmarshalText([]byte(c.String())))
		require.Equal(t, c, got)
		require.LessOrEqual(t, len(c.String()), 60)
		state, err := json.Marshal(c)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(state, &got))
		require.Equal(t, c, got)
	}
	require.Empty(t, Cursor{}.String())
}

// TestCursorRefused reads texts that are none, and leaves the cursor as it was.
func TestCursorRefused(t *testing.T) {
	t.Parallel()
	c := someCursors[1]
	text := c.String()
	for name, bad := range map[string]string{
		"of messages": "m1." + strings.TrimPrefix(text, "e1."),
		"short":       text[:len(text)-1],
		"line break":  text + "\n",
		"object":      `{"Offset": 1}`,
		"zero":        cursorKind.Format(make([]byte, 18)),
		"long number": cursorKind.Format(append([]byte{0x82, 0}, make([]byte, 17)...)),
		"no sum":      cursorKind.Format([]byte{2, 2}),
		"more":        cursorKind.Format(append([]byte{2}, make([]byte, 18)...)),
		"no number":   cursorKind.Format([]byte(strings.Repeat("\xff", 18))),
	} {
		got := c
		require.ErrorContains(t, got.UnmarshalText([]byte(bad)), "parse cursor: ", name)
		require.Equal(t, c, got, name)
	}
	for i := range text {
		changed := []byte(text)
		changed[i] ^= 1
		require.Error(t, new(Cursor).UnmarshalText(changed))
	}
}

func FuzzCursor(f *testing.F) {
	for _, c := range someCursors {
		f.Add(c.String(), c.body())
	}
	f.Fuzz(func(t *testing.T, text string, body []byte) {
		for _, text := range []string{text, cursorKind.Format(body)} {
			var c Cursor
			if c.UnmarshalText([]byte(text)) == nil {
				require.Equal(t, text, c.String())
			}
		}
	})
}
