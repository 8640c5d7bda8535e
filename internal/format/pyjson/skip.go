package pyjson

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// special finds the bytes that are not plain text in eight bytes: a quote, a backslash, a
// control character or a byte that is not ASCII. Each subtraction sets a byte's high bit
// when that byte is such a byte, or follows one, so the lowest high bit is right.
// Flipping one bit lets a single subtraction find quotes and control characters: 0x22
// becomes 0x20, and bytes below 0x20 stay below.
func special(x uint64) uint64 {
	return (((x ^ 0x02*ones) - 0x21*ones) | ((x ^ '\\'*ones) - ones) | x) & highs
}

// SkipPlain returns the index of the first byte from i on that is a quote, a backslash, a control character or not
// ASCII; len(b) if there is none.
func SkipPlain(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		if found := special(binary.LittleEndian.Uint64(b[i : i+8])); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c == '"' || c == '\\' || c < ' ' || c >= utf8.RuneSelf {
			return i
		}
	}
	return i
}

// SkipString returns the index behind the string whose content begins at i. It is -1 when
// the string does not end in b or holds text that [Check] refuses in one dialect or the
// other.
//
// Text beyond ASCII and escapes are frequent, and each costs a branch that no processor
// foresees: so the loop of SkipPlain is repeated here, and a table decides the rest.
// Longer texts are read in blocks.
func SkipString(b []byte, i int) int {
	for long := max(i+longString, 3); i+16 <= len(b); {
		if i >= long && hasBlocks {
			i = skipBlocks(&b[0], i, len(b))
			long = i + 1 // handle the bytes that it left
			continue
		}
		x := binary.LittleEndian.Uint64(b[i : i+8])
		found := special(x)
		if found == 0 {
			i += 8
			continue
		}
		at := bits.TrailingZeros64(found) &^ 7
		i += at / 8
		c := byte(x >> at)
		if c == '"' {
			return i + 1
		}
		u, next := &units[c], binary.LittleEndian.Uint32(b[i:i+4])
		n := u.size
		if second := byte(next >> 8); n == 0 || second-u.low > u.span || next&u.mask != u.want ||
			c == '\\' && !units[second].escape {
			if n = unitLen(b[i:]); n == 0 {
				return -1
			}
		}
		i += n
	}
	return skipRest(b, i)
}

// longString is the length from which on a string is read in blocks.
const longString = 8

// skipRest is SkipString where little is left.
func skipRest(b []byte, i int) int {
	for i < len(b) && b[i] != '"' {
		n := unitLen(b[i:])
		if n == 0 {
			return -1
		}
		i += n
	}
	if i == len(b) {
		return -1
	}
	return i + 1
}

// unitLen returns the length of the character or escape at the start of b, 0 if a string may not hold it.
func unitLen(b []byte) int {
	switch c := b[0]; {
	case c == '\\':
		return escapeLen(b)
	case c < ' ':
		return 0
	case c < utf8.RuneSelf:
		return 1
	}
	r, n := decodeWide(b)
	if isSurrogate(r) {
		return 0
	}
	return n
}

// A unit describes the text in a string that a byte begins: a character beyond ASCII or
// an escape of two bytes.
type unit struct {
	size       int    // 0: neither
	low, span  byte   // the second byte is from low to low+span
	escape     bool   // the byte itself is the second of an escape
	mask, want uint32 // of all its bytes, the first being the lowest
}

// units has a unit for every byte. Nothing changes it.
var units = func() (t [256]unit) {
	for c := 0xc2; c < 0xf5; c++ {
		u := unit{size: 2, low: 0x80, span: 0x3f}
		if c >= 0xe0 {
			u.size, u.mask, u.want = 3, 0xc00000, 0x800000
		}
		if c >= 0xf0 {
			u.size, u.mask, u.want = 4, 0xc0c00000, 0x80800000
		}
		t[c] = u
	}
	t[0xe0].low, t[0xe0].span = 0xa0, 0x1f // characters below have shorter forms
	t[0xed].span = 0x1f                    // surrogates are above
	t[0xf0].low, t[0xf0].span = 0x90, 0x2f
	t[0xf4].span = 0x0f // and nothing is beyond U+10FFFF
	t['\\'] = unit{size: 2, span: 0xff}
	for _, c := range `"\/bfnrt` {
		t[c].escape = true
	}
	return t
}()

// Trim removes JSON white space (space, tab, LF, CR) from both ends of b. The result shares b's memory.
func Trim(b []byte) []byte {
	from, to := skipSpace(b, 0), len(b)
	for to > from && skipSpace(b[:to], to-1) == to {
		to--
	}
	return b[from:to]
}

// TrimSpace removes from both ends of UTF-8 text the white space that Python's str.strip
// removes. It is more than in [unicode.IsSpace]: also U+001C to U+001F. The result shares
// b's memory.
func TrimSpace(b []byte) []byte {
	if n := len(b); n > 0 && isVisible(b[0]) && isVisible(b[n-1]) {
		return b // as nearly always
	}
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if !isPythonSpace(r) {
			break
		}
		b = b[n:]
	}
	for len(b) > 0 {
		r, n := utf8.DecodeLastRune(b)
		if !isPythonSpace(r) {
			break
		}
		b = b[:len(b)-n]
	}
	return b
}

// isVisible reports whether c is a character of ASCII that is not white space.
func isVisible(c byte) bool { return c > ' ' && c < utf8.RuneSelf }

// isPythonSpace is Python's str.isspace for one character.
func isPythonSpace(r rune) bool {
	switch {
	case r <= 0x20:
		return r >= 0x09 && r <= 0x0d || r >= 0x1c
	case r >= 0x2000 && r <= 0x200a:
		return true
	}
	switch r {
	case 0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000:
		return true
	}
	return false
}

// skipSpace returns the index of the first byte from i on that is not JSON white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// bom is the byte order mark that some editors put before UTF-8 text.
const bom = "\xef\xbb\xbf"

// start returns the beginning of the value in b: behind a byte order mark and white
// space.
func start(b []byte) int {
	if bytes.HasPrefix(b, []byte(bom)) {
		return skipSpace(b, len(bom))
	}
	return skipSpace(b, 0)
}

// Limits of Python's reader.
const (
	MaxDepth  = 1000 // containers around a value; Python 3.11 stops there (its recursion limit), later ones further on
	MaxDigits = 4300 // digits of an integer
)

// Dialect is a set of texts that are accepted as JSON.
type Dialect uint8

const (
	// Tolerant accepts the same as json.loads in a text: also NaN, Infinity, -Infinity
	// and lone surrogates as escapes. The bytes must be UTF-8.
	Tolerant Dialect = iota
	// Strict accepts the same as the newer tools in bytes: no NaN and no infinities as
	// literals, but surrogates as three bytes (ED A0 80 to ED BF BF) and one byte order
	// mark at the start.
	Strict

	// either accepts all texts of the two others; the writers use it to read.
	either
)

// constants reports whether NaN, Infinity and -Infinity are numbers.
func (d Dialect) constants() bool { return d != Strict }

// surrogates reports whether surrogates may be bytes, and a byte order mark may be at the
// start.
func (d Dialect) surrogates() bool { return d != Tolerant }

// enter returns the index of the first byte behind the opening of the container b and
// white space, len(b) if b is another value.
func enter(b []byte, open byte) int {
	i := start(b)
	if i == len(b) || b[i] != open {
		return len(b)
	}
	return skipSpace(b, i+1)
}

// afterComma returns the index of the next member or element behind the value that ends
// at i, len(b) if there is none.
func afterComma(b []byte, i int) int {
	i = skipSpace(b, i)
	if i == len(b) || b[i] != ',' {
		return len(b)
	}
	return skipSpace(b, i+1)
}

// skipString returns the index behind the string that begins at i.
func skipString(b []byte, i int) int {
	if hasEnds && len(b) >= endBlock {
		return quoteIn(&b[0], i+1, len(b))
	}
	return plainSkipString(b, i)
}

// endBlock is the number of bytes that are searched at once for the end of a value.
const endBlock = 64

func plainSkipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			break
		}
		slashes := 0
		for slashes < n && b[i+n-1-slashes] == '\\' {
			slashes++
		}
		i += n
		if slashes%2 == 0 {
			return i + 1
		}
	}
	return len(b)
}

// skipValue returns the index behind the value that begins at i; i itself if none does.
func skipValue(b []byte, i int) int {
	if i == len(b) {
		return i
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipContainer(b, i)
	}
	for i < len(b) && !endsScalar(b[i]) {
		i++
	}
	return i
}

// skipContainer returns the index behind the container that begins at i.
func skipContainer(b []byte, i int) int {
	if hasEnds && len(b) >= endBlock {
		return closeIn(&b[0], i, len(b))
	}
	return plainSkipContainer(b, i)
}

func plainSkipContainer(b []byte, i int) int {
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = plainSkipString(b, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return i + 1
			}
		}
	}
	return len(b)
}

func endsScalar(c byte) bool {
	switch c {
	case ',', ':', ']', '}', '[', '{', '"', ' ', '\t', '\n', '\r':
		return true
	}
	return false
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

// skipFloat skips a fraction and an exponent. Either without digits is not part of the number.
func skipFloat(b []byte, i int) int {
	if i < len(b) && b[i] == '.' {
		end := skipDigits(b, i+1)
		if end == i+1 {
			return i
		}
		i = end
	}
	if i == len(b) || b[i]|0x20 != 'e' {
		return i
	}
	digits := i + 1
	if digits < len(b) && (b[digits] == '+' || b[digits] == '-') {
		digits++
	}
	if end := skipDigits(b, digits); end > digits {
		return end
	}
	return i
}
