package pyjson

import "unicode/utf8"

// escapeLen returns the length of the escape at the start of b, 0 if there is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b); ok {
			return 6
		}
	}
	return 0
}

// hex4 decodes the \uXXXX at the start of b.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// decodeEscape decodes the escape at the start of b; two escapes that make a surrogate
// pair are one character. Anything but an escape counts as a backslash.
func decodeEscape(b []byte) (r rune, n int) {
	switch escapeLen(b) {
	case 0:
		return '\\', 1
	case 2:
		return shortEscape(b[1]), 2
	}
	r, _ = hex4(b)
	if low, ok := hex4(b[6:]); ok && isHigh(r) && isLow(low) {
		return (r-0xd800)<<10 | (low - 0xdc00) + 0x10000, 12
	}
	return r, 6
}

func shortEscape(c byte) rune {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return rune(c)
}

func isHigh(r rune) bool { return r >= 0xd800 && r < 0xdc00 }

func isLow(r rune) bool { return r >= 0xdc00 && r < 0xe000 }

func isSurrogate(r rune) bool { return r >= 0xd800 && r < 0xe000 }

// decodeWide decodes the character at the start of b, whose first byte is not ASCII.
// Surrogates as three bytes (WTF-8) are decoded too; n is 0 for other bytes that are not
// UTF-8. The usual lengths are tried first, for speed.
func decodeWide(b []byte) (r rune, n int) {
	if len(b) >= 3 && isTail(b[1]) {
		switch c := b[0]; {
		case c >= 0xc2 && c < 0xe0:
			return rune(c&0x1f)<<6 | rune(b[1]&0x3f), 2
		case c > 0xe0 && c < 0xf0 && isTail(b[2]):
			return rune(c&0x0f)<<12 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f), 3
		}
	}
	r, n = utf8.DecodeRune(b)
	if r == utf8.RuneError && n < 3 {
		return 0, 0
	}
	return r, n
}

// isTail reports whether c is a byte of a character behind its first.
func isTail(c byte) bool { return c&0xc0 == 0x80 }

// appendWTF8 appends r as UTF-8, and a surrogate in the same manner as three bytes.
func appendWTF8(dst []byte, r rune) []byte {
	if isSurrogate(r) {
		return append(dst, 0xed, 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
	}
	return utf8.AppendRune(dst, r)
}

// isSeparator reports whether r ends a line in some tools although it does not in a file of lines.
func isSeparator(r rune) bool { return r == 0x85 || r == 0x2028 || r == 0x2029 }
