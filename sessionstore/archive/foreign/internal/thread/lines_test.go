package thread

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

// TestLines gives lines around the limit.
func TestLines(t *testing.T) {
	t.Parallel()
	at := strings.Repeat("x", MaxLine)
	next, stop := iter.Pull2(LinesOf(t.Context(), strings.NewReader(at+"\n"+at+"y\nz")))
	defer stop()
	l, err, _ := next()
	require.NoError(t, err)
	require.False(t, l.long)
	require.Len(t, l.Bytes, MaxLine)
	l, err, _ = next()
	require.NoError(t, err)
	require.True(t, l.long)
	require.Equal(t, int64(MaxLine+1), l.offset)
	l, err, _ = next()
	require.NoError(t, err)
	require.Equal(t, "z", string(l.Bytes))
	require.Equal(t, 3, l.number)
	_, _, more := next()
	require.False(t, more)
}

// TestShortFile reads a line of a file that is shorter than it was.
func TestShortFile(t *testing.T) {
	t.Parallel()
	_, err := (&input{f: strings.NewReader("abc"), size: 10}).Line(0)
	require.ErrorIs(t, err, ErrChanged)
}

// TestPackedAnywhere reads a compressed file back and forth.
func TestPackedAnywhere(t *testing.T) {
	t.Parallel()
	var data []byte
	for i := range 400_000 {
		data = fmt.Appendf(data, "%d\n", i)
	}
	path := filepath.Join(t.TempDir(), "h.jsonl.zst")
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	packedData := z.EncodeAll(data, nil)
	require.NoError(t, os.WriteFile(path, packedData, 0o600))
	r, size, leave, err := OpenPlain(t.Context(), path)
	require.NoError(t, err)
	defer leave()
	require.Equal(t, int64(len(data)), size)
	got := make([]byte, 1000)
	for _, at := range []int{0, 2_000_000, 1_999_000, 100, len(data) - 1000, 1_500_000, 0} {
		n, err := r.ReadAt(got, int64(at))
		require.NoError(t, err)
		require.True(t, bytes.Equal(data[at:at+n], got[:n]))
		require.Equal(t, 1000, n)
	}

	// A file whose end is not written yet is taken as far as it goes.
	require.NoError(t, os.WriteFile(path, packedData[:len(packedData)/2], 0o600))
	r, size, leave, err = OpenPlain(t.Context(), path)
	require.NoError(t, err)
	defer leave()
	require.Less(t, size, int64(len(data)))
	require.Positive(t, size)
	n, err := r.ReadAt(got, size-1000)
	require.NoError(t, err)
	require.Equal(t, string(data[size-1000:size]), string(got[:n]))
}
