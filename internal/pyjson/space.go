package pyjson

import (
	"bytes"
	"unicode/utf8"
)

// Trim removes JSON white space (space, tab, LF, CR) from both ends of b. The result shares b's memory.
func Trim(b []byte) []byte {
	from, to := skipSpace(b, 0), len(b)
	for to > from && skipSpace(b[:to], to-1) == to {
		to--
	}
	return b[from:to]
}

// TrimSpace removes from both ends of UTF-8 text what Python's str.strip removes. That is more than
// [unicode.IsSpace] knows: also U+001C to U+001F. The result shares b's memory.
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

// bom is what some editors put before UTF-8 text.
const bom = "\xef\xbb\xbf"

// start returns where the value in b begins: behind a byte order mark and white space.
func start(b []byte) int {
	if bytes.HasPrefix(b, []byte(bom)) {
		return skipSpace(b, len(bom))
	}
	return skipSpace(b, 0)
}
