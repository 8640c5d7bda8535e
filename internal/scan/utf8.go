package scan

import (
	"encoding/binary"
	"unicode/utf8"
)

// ValidUTF8 reports what [unicode/utf8.Valid] reports.
func ValidUTF8(b []byte) bool {
	if !hasBlocks || len(b) < 2*blockSize {
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
	return valid(b[begin(b, validBlocks(&b[0], i, len(b)-blockSize)):])
}

// begin returns where the character begins that goes on at end, or end.
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
