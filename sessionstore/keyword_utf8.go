package sessionstore

import "encoding/binary"

// States of the check for UTF-8: how far a shift of a row of its table leads.
const (
	utf8Refused = 6 * iota
	utf8Start   // of a character
	utf8Last    // one more byte is wanted
	utf8Two     // two more
	utf8Three   // three more
	utf8AfterE0 // two more, no overlong character
	utf8AfterED // two more, no surrogate
	utf8AfterF0 // three more, no overlong character
	utf8AfterF4 // three more, nothing beyond U+10FFFF
)

// utf8Table has for every byte the next states, six bits each.
var utf8Table = makeUTF8Table()

func makeUTF8Table() (table [256]uint64) {
	set := func(from, to byte, state, next int) {
		for c := int(from); c <= int(to); c++ {
			table[c] |= uint64(next) << state
		}
	}
	set(0x00, 0x7f, utf8Start, utf8Start)
	set(0xc2, 0xdf, utf8Start, utf8Last)
	set(0xe0, 0xe0, utf8Start, utf8AfterE0)
	set(0xe1, 0xec, utf8Start, utf8Two)
	set(0xed, 0xed, utf8Start, utf8AfterED)
	set(0xee, 0xef, utf8Start, utf8Two)
	set(0xf0, 0xf0, utf8Start, utf8AfterF0)
	set(0xf1, 0xf3, utf8Start, utf8Three)
	set(0xf4, 0xf4, utf8Start, utf8AfterF4)
	set(0x80, 0xbf, utf8Last, utf8Start)
	set(0x80, 0xbf, utf8Two, utf8Last)
	set(0x80, 0xbf, utf8Three, utf8Two)
	set(0xa0, 0xbf, utf8AfterE0, utf8Last)
	set(0x80, 0x9f, utf8AfterED, utf8Last)
	set(0x90, 0xbf, utf8AfterF0, utf8Two)
	set(0x80, 0x8f, utf8AfterF4, utf8Two)
	return table
}

// validUTF8 reports what [unicode/utf8.Valid] reports. It is faster on texts
// that are not mostly ASCII: a step for each byte that no branch depends on.
func validUTF8(b []byte) bool {
	const high, width = 0x8080808080808080, 16
	state := uint64(utf8Start)
	for ; len(b) >= width; b = b[width:] {
		if state&63 == utf8Start && (binary.LittleEndian.Uint64(b)|binary.LittleEndian.Uint64(b[8:]))&high == 0 {
			continue
		}
		for _, c := range b[:width] {
			state = utf8Table[c] >> (state & 63)
		}
	}
	for _, c := range b {
		state = utf8Table[c] >> (state & 63)
	}
	return state&63 == utf8Start
}
