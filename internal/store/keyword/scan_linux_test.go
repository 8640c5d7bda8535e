package keyword

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestNothingBehindTheEnd has texts that end where the memory ends.
func TestNothingBehindTheEnd(t *testing.T) {
	t.Parallel()
	size := os.Getpagesize()
	pages, err := unix.Mmap(-1, 0, 2*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, unix.Munmap(pages)) })
	copy(pages[:size], bytes.Repeat([]byte("é"), size/2))
	require.NoError(t, unix.Mprotect(pages[size:], unix.PROT_NONE))
	for n := range 10 * vectorSize {
		b := pages[size-n : size]
		checkUTF8(t, b)
		for distance := range 5 * vectorSize {
			p := Pair{first: 'x', second: 'y', distance: distance}
			require.Equal(t, n, p.Index(b, 0))
		}
	}
}
