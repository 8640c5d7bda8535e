package whole

import (
	"strconv"
	"strings"
	"testing"

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
