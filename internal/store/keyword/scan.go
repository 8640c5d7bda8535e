package keyword

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Pair is two bytes at a distance. ASCII letters match in either case. The zero Pair is a
// zero byte.
type Pair struct {
	first, second         byte // letters in lower case
	foldFirst, foldSecond byte // the bits to set in a byte before it is compared
	distance              int
}

// NewPair returns the pair of the bytes of text at the places first and second, in either
// order; they may be one place. Letters of text in lower case match both cases, and text
// has none in upper case.
func NewPair(text []byte, first, second int) Pair {
	if first > second {
		first, second = second, first
	}
	p := Pair{first: text[first], second: text[second], distance: second - first}
	p.foldFirst, p.foldSecond = foldBytes(p.first), foldBytes(p.second)
	return p
}

// foldBytes returns the bit in which the two cases of a letter differ.
func foldBytes(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return 'a' - 'A'
	}
	return 0
}

// Index returns the first place in b, at from or later, with the first byte of the pair
// there and the second behind it. It returns len(b) if there is no such place.
func (p Pair) Index(b []byte, from int) int {
	if last := len(b) - p.distance - vectorSize; hasBlocks && from <= last {
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

// ValidUTF8 is a faster [unicode/utf8.Valid].
func ValidUTF8(b []byte) bool {
	if !hasBlocks || len(b) < 2*vectorSize {
		return valid(b)
	}
	i := 0
	for i < before {
		_, n := utf8.DecodeRune(b[i:])
		if n == 1 && b[i] >= utf8.RuneSelf {
			return false
		}
		i += n
	}
	return valid(b[begin(b, validBlocks(&b[0], i, len(b)-vectorSize)):])
}

// begin returns the beginning of the character that goes on at end, or end.
func begin(b []byte, end int) int {
	for i := end - 1; i >= end-before; i-- {
		if b[i] >= 0xc0 {
			return i
		}
	}
	return end
}

// States of the check for UTF-8: how far a shift of a row of its table leads.
const (
	refused = 6 * iota
	start   // of a character
	last    // one more byte is wanted
	two     // two more
	three   // three more
	afterE0 // two more, no overlong character
	afterED // two more, no surrogate
	afterF0 // three more, no overlong character
	afterF4 // three more, nothing beyond U+10FFFF
)

// table has for every byte the next states, six bits each.
var table = makeTable()

func makeTable() (table [256]uint64) {
	set := func(from, to byte, state, next int) {
		for c := int(from); c <= int(to); c++ {
			table[c] |= uint64(next) << state
		}
	}
	set(0x00, 0x7f, start, start)
	set(0xc2, 0xdf, start, last)
	set(0xe0, 0xe0, start, afterE0)
	set(0xe1, 0xec, start, two)
	set(0xed, 0xed, start, afterED)
	set(0xee, 0xef, start, two)
	set(0xf0, 0xf0, start, afterF0)
	set(0xf1, 0xf3, start, three)
	set(0xf4, 0xf4, start, afterF4)
	set(0x80, 0xbf, last, start)
	set(0x80, 0xbf, two, last)
	set(0x80, 0xbf, three, two)
	set(0xa0, 0xbf, afterE0, last)
	set(0x80, 0x9f, afterED, last)
	set(0x90, 0xbf, afterF0, two)
	set(0x80, 0x8f, afterF4, two)
	return table
}

// valid is ValidUTF8 without blocks: a step for each byte that no branch
// depends on.
func valid(b []byte) bool {
	const high, width = ones << 7, 16
	state := uint64(start)
	for ; len(b) >= width; b = b[width:] {
		if state&63 == start && (binary.LittleEndian.Uint64(b)|binary.LittleEndian.Uint64(b[8:]))&high == 0 {
			continue
		}
		for _, c := range b[:width] {
			state = table[c] >> (state & 63)
		}
	}
	for _, c := range b {
		state = table[c] >> (state & 63)
	}
	return state&63 == start
}
