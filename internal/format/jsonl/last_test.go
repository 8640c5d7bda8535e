package jsonl

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLast reads each line of texts from their ends, also such as are longer than
// what is read at once, and those that end where a part does.
func TestLast(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2*lastPart)
	for _, lines := range [][]string{
		{"a"}, {""}, {"", ""}, {"a", "", "bc"}, {long}, {"a", long, "b", long[:lastPart-1], long[:lastPart], "c"},
	} {
		text := strings.Join(lines, "\n") + "\n"
		r := strings.NewReader(text + "torn")
		for i := range lines {
			got, err := Last(r, int64(len(text)), int64(len(lines)-i))
			require.NoError(t, err)
			require.Equal(t, lines[i], string(got))
		}
		_, err := Last(r, int64(len(text)), int64(len(lines)+1))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		_, err = Last(r, int64(len(text)+10), 1)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "shorter than it is to be")
	}
}
