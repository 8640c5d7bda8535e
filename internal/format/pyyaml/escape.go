package pyyaml

import (
	"fmt"
	"unicode/utf8"
)

// isBare reports whether r is written as itself in a double-quoted text.
func isBare(r rune) bool { return ' ' <= r && r <= '~' && r != '"' && r != '\\' }

// appendEscape appends the shortest of PyYAML's escapes for r: one of YAML's
// letters, or two, four or eight hexadecimal digits in upper case.
func appendEscape(dst []byte, r rune) []byte {
	if c := escapeLetter(r); c != 0 {
		return append(dst, '\\', c)
	}
	switch {
	case r <= 0xFF:
		return fmt.Appendf(dst, `\x%02X`, r)
	case r <= 0xFFFF:
		return fmt.Appendf(dst, `\u%04X`, r)
	}
	return fmt.Appendf(dst, `\U%08X`, r)
}

// escapeLetter returns the letter that names r after a backslash, or 0.
func escapeLetter(r rune) byte {
	switch r {
	case 0:
		return '0'
	case '\a':
		return 'a'
	case '\b':
		return 'b'
	case '\t':
		return 't'
	case '\n':
		return 'n'
	case '\v':
		return 'v'
	case '\f':
		return 'f'
	case '\r':
		return 'r'
	case 0x1B:
		return 'e'
	case '"', '\\':
		return byte(r)
	case 0x85: // next line
		return 'N'
	case 0xA0: // no-break space
		return '_'
	case 0x2028: // line separator
		return 'L'
	case 0x2029: // paragraph separator
		return 'P'
	}
	return 0
}

// decodeRune is [utf8.DecodeRuneInString] that also knows the three bytes of a
// lone surrogate. s is not empty.
func decodeRune(s string) (r rune, size int) {
	r, size = utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && size == 1 && isSurrogate(s) {
		return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), 3
	}
	return r, size
}

// isSurrogate reports whether s starts with U+D800 to U+DFFF in WTF-8.
func isSurrogate(s string) bool {
	return len(s) >= 3 && s[0] == 0xED && s[1] >= 0xA0 && s[1] <= 0xBF && s[2]&0xC0 == 0x80
}
