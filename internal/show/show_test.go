package show

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestID(t *testing.T) {
	t.Parallel()
	exact := strings.Repeat("x", idBytes)
	for _, test := range []struct{ id, want string }{
		{"", ""},
		{exact, exact},
		{exact + "y", exact + "…"},
		{exact[1:] + "é" + exact, exact[1:] + "…"},
		{exact[:62] + "\U0001F600", exact[:62] + "…"},
		{strings.Repeat("\xff", 100), strings.Repeat("\xff", 64) + "…"},
		{strings.Repeat("\x80", 100), strings.Repeat("\x80", 64) + "…"},
	} {
		require.Equal(t, test.want, ID(test.id))
	}
	for n := range 200 {
		id := ID(strings.Repeat("a", n%5) + strings.Repeat("世", n))
		require.True(t, utf8.ValidString(id))
		require.LessOrEqual(t, len(id), idBytes+len("…"))
	}
}
