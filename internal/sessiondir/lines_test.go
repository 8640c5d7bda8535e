package sessiondir

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// linesOf returns so many bytes in lines of up to a length, the last without its end.
func linesOf(size, length int) []byte {
	data := make([]byte, 0, size+length)
	for n := 0; len(data) < size; n++ {
		data = append(append(data, strings.Repeat(string(rune('a'+n%26)), 1+n*7919%length)...), '\n')
	}
	return append(data[:size-1:size-1], 'z')
}

func TestReadLines(t *testing.T) {
	t.Parallel()
	d, path := openSession(t, nil)
	for _, size := range []int{1, 2*partBytes - 1, 2 * partBytes, 3*partBytes + 17} {
		for _, length := range []int{30, 70_000, 3 * partBytes} {
			data := linesOf(size, length)
			require.NoError(t, os.WriteFile(filepath.Join(path, "lines"), data, 0o600))
			parts, at, err := d.ReadLines("lines")
			require.NoError(t, err)
			require.EqualValues(t, size, at.Size)
			require.True(t, bytes.Equal(data, bytes.Join(parts, nil)))
			for _, part := range parts[:len(parts)-1] {
				require.True(t, bytes.HasSuffix(part, []byte("\n")))
			}
		}
	}
	for _, name := range []string{"none", "."} {
		_, _, err := d.ReadLines(name)
		require.Error(t, err)
	}
	_, _, err := d.ReadLines("none")
	require.ErrorIs(t, err, fs.ErrNotExist)
	put(t, "", path, "empty")
	parts, _, err := d.ReadLines("empty")
	require.NoError(t, err)
	require.Empty(t, bytes.Join(parts, nil))
}

func TestCuts(t *testing.T) {
	t.Parallel()
	for _, length := range []int{1, 10, 5_000, 40_000, 400_000} {
		data := linesOf(300_000, length)
		for n := range 9 {
			at := cuts(bytes.NewReader(data), int64(len(data)), n)
			require.LessOrEqual(t, len(at), max(n, 1)+1)
			require.Zero(t, at[0])
			require.EqualValues(t, len(data), at[len(at)-1])
			for i, end := range at[1:] {
				require.Greater(t, end, at[i])
				require.True(t, end == int64(len(data)) || data[end-1] == '\n')
			}
			if length == 10 {
				require.Len(t, at, max(n, 1)+1)
			}
			parts, err := readCuts(bytes.NewReader(data), at)
			require.NoError(t, err)
			require.True(t, bytes.Equal(data, bytes.Join(parts, nil)))
		}
	}
}

// A file that became shorter, or was overwritten, is not taken for parts.
func TestReadCutsOfAnotherFile(t *testing.T) {
	t.Parallel()
	data := linesOf(1000, 20)
	at := cuts(bytes.NewReader(data), 1000, 4)
	_, err := readCuts(bytes.NewReader(data[:at[2]]), at)
	require.ErrorIs(t, err, io.EOF)
	_, err = readCuts(bytes.NewReader(bytes.ReplaceAll(data, []byte("\n"), []byte("x"))), at)
	require.ErrorIs(t, err, errMoved)
	require.EqualValues(t, []int64{0, 1000}, cuts(strings.NewReader(""), 1000, 4))
}
