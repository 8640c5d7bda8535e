package limits

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	require.NoError(t, Check(0))
	require.NoError(t, Check(Max))
	require.ErrorIs(t, Check(Max+1), ErrTooLarge)
	want := map[int]int64{32: 256 << 20, 64: 64 << 30}
	require.Equal(t, want[strconv.IntSize], Max)
}

func TestReadAll(t *testing.T) {
	t.Parallel()
	for size, fits := range map[int]bool{0: true, 9: true, 10: true, 11: false, 5000: false} {
		data, err := readAll(strings.NewReader(strings.Repeat("x", size)), 10)
		if !fits {
			require.ErrorIs(t, err, ErrTooLarge)
			require.Empty(t, data)
			continue
		}
		require.NoError(t, err)
		require.Len(t, data, size)
	}
}

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
