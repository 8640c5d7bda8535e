package excerpt

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestOf(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text, find           string
		around               int
		before, found, after string
	}{
		{"one", "one", 5, "", "one", ""},
		{"zero one two", "one", 5, "zero ", "one", " two"},
		{"zero one two", "one", 2, "…o ", "one", " t…"},
		{"ééé one ööö", "one", 3, "…é ", "one", " ö…"},
		{"ééé one ööö", "one", 2, "… ", "one", " …"},
		{"日本語", "本", 3, "日", "本", "語"},
	}
	for _, tt := range tests {
		from := strings.Index(tt.text, tt.find)
		before, found, after := Of(tt.text, from, from+len(tt.find), tt.around)
		require.Equal(t, []string{tt.before, tt.found, tt.after}, []string{before, found, after}, tt.text)
	}
}

func TestOfLongMatch(t *testing.T) {
	t.Parallel()
	text := "a" + strings.Repeat("é", 1000) + "b"
	before, found, after := Of(text, 1, len(text)-1, 10)
	require.Equal(t, "a", before)
	require.Equal(t, "b", after)
	require.True(t, utf8.ValidString(found))
	require.Len(t, found, maxFound)
}

func TestOfBytes(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("\x80", 50) + "x" + strings.Repeat("\x80", 50) // no text: nothing is read beyond its ends
	before, found, after := Of(text, 50, 51, 10)
	require.Equal(t, "x", found)
	require.LessOrEqual(t, len(before)+len(after), 2*(10+len("…")))
}
