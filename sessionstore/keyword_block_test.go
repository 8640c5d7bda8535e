package sessionstore

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// TestBlocks puts the blocks of a file together again.
func TestBlocks(t *testing.T) {
	t.Parallel()
	const seed = 5
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

func TestValidUTF8(t *testing.T) {
	t.Parallel()
	check := func(b []byte) {
		if utf8.Valid(b) != validUTF8(b) {
			require.Equal(t, utf8.Valid(b), validUTF8(b), "%x", b)
		}
	}
	for c := range 1 << 16 {
		check([]byte{byte(c >> 8), byte(c)})
	}
	for c := 0xe00000; c < 1<<24; c++ {
		check([]byte{byte(c >> 16), byte(c >> 8), byte(c)})
	}
	for c := 0xee00; c < 1<<16; c++ {
		for _, tail := range []string{"\x80\x80", "\xbf\xbf", "\x7f\x80", "\x80\xc0", "\x80", ""} {
			check(append([]byte{byte(c >> 8), byte(c)}, tail...))
		}
	}
	for before := range 40 {
		for _, s := range []string{"日", "😀", "é", "\xff", "\xed\xa0\x80", "\xf0\x9f\x98"} {
			text := strings.Repeat("x", before) + s
			for after := range 40 {
				check([]byte(text + strings.Repeat("y", after)))
			}
		}
	}
}

func FuzzValidUTF8(f *testing.F) {
	for _, s := range []string{"", "0123456789abcdef日本語0123456789", "\xc3\xa9\xff", "\xf4\x8f\xbf\xbf\xf4\x90\x80\x80"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) { require.Equal(t, utf8.Valid(b), validUTF8(b)) })
}
