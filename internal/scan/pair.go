package scan

import (
	"encoding/binary"
	"math/bits"
)

// Pair is two bytes at a distance, of which ASCII letters may be of either
// case. The zero Pair is a zero byte.
type Pair struct {
	first, second         byte // letters in lower case
	foldFirst, foldSecond byte // what is set in a byte before it is compared
	distance              int
}

// NewPair returns the pair of the bytes of text at the places first and
// second, in either order; they may be one place. Letters of text in lower case
// stand for both cases, and text has none in upper case.
func NewPair(text []byte, first, second int) Pair {
	if first > second {
		first, second = second, first
	}
	p := Pair{first: text[first], second: text[second], distance: second - first}
	p.foldFirst, p.foldSecond = fold(p.first), fold(p.second)
	return p
}

// fold returns the bit in which the two cases of a letter differ.
func fold(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return 'a' - 'A'
	}
	return 0
}

// Index returns where in b, at from or later, the first of the bytes stands
// with the second one behind it. It is len(b) where there is no such place.
func (p Pair) Index(b []byte, from int) int {
	if last := len(b) - p.distance - blockSize; hasBlocks && from <= last {
		from = indexPair(&b[0], from, last, p.distance, p.packed())
	}
	return p.index(b, from)
}

// packed returns the bytes of p, the first being the lowest.
func (p Pair) packed() uint32 {
	return uint32(p.first) | uint32(p.foldFirst)<<8 | uint32(p.second)<<16 | uint32(p.foldSecond)<<24
}

// index is Index without blocks.
func (p Pair) index(b []byte, i int) int {
	const word = 8
	first, second := ones*uint64(p.first), ones*uint64(p.second)
	foldFirst, foldSecond := ones*uint64(p.foldFirst), ones*uint64(p.foldSecond)
	for ; i+p.distance+word <= len(b); i += word {
		found := zeros((binary.LittleEndian.Uint64(b[i:])|foldFirst)^first) &
			zeros((binary.LittleEndian.Uint64(b[i+p.distance:])|foldSecond)^second)
		for ; found != 0; found &= found - 1 {
			if at := i + bits.TrailingZeros64(found)/word; p.isAt(b, at) {
				return at
			}
		}
	}
	for ; i+p.distance < len(b); i++ {
		if p.isAt(b, i) {
			return i
		}
	}
	return len(b)
}

func (p Pair) isAt(b []byte, i int) bool {
	return b[i]|p.foldFirst == p.first && b[i+p.distance]|p.foldSecond == p.second
}

const ones = 0x0101010101010101

// zeros sets the high bit of every byte of x that is zero, and of some that
// are one.
func zeros(x uint64) uint64 { return (x - ones) &^ x & (ones << 7) }
