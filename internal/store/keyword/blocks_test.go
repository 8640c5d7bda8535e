package keyword

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestKeywordBlocks puts the blocks of a file together again.
func TestKeywordBlocks(t *testing.T) {
	t.Parallel()
	seed := testenv.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 6))
	var b blocks
	for n := range 60 {
		var text []byte
		for range rnd.IntN(5) {
			text = append(append(text, bytes.Repeat([]byte{'y'}, rnd.IntN(1<<rnd.IntN(20)))...), "\n"[:rnd.IntN(8)&1]...)
		}
		b.reset([]io.Reader{bytes.NewReader(text), iotest.DataErrReader(bytes.NewReader(text)), iotest.HalfReader(bytes.NewReader(text))}[n%3])
		var whole []byte
		for {
			block, err := b.next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			require.Equal(t, int64(len(whole)), block.Offset, "seed %d", seed)
			require.Equal(t, bytes.Count(whole, []byte{'\n'})+1, block.Number, "seed %d", seed)
			whole = append(whole, block.Bytes...)
			if len(whole) < len(text) {
				whole = append(whole, '\n')
			}
		}
		require.True(t, bytes.Equal(text, whole), "seed %d, %d", seed, n)
	}
	b.reset(iotest.ErrReader(io.ErrClosedPipe))
	_, err := b.next()
	require.ErrorIs(t, err, io.ErrClosedPipe)
}
