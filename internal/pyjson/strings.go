package pyjson

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// str reads the string that begins at the next byte.
func (s *scanner) str() {
	if s.tape == nil { // nobody asks what is in it
		if end := SkipString(s.b, s.i+1); end >= 0 {
			s.i = end
			return
		}
	}
	i := SkipPlain(s.b, s.i+1)
	if i < len(s.b) && s.b[i] == '"' {
		s.add(i+1, 0)
		return
	}
	s.mixed(i)
}

// mixed reads the string that begins at the next byte from i on.
func (s *scanner) mixed(i int) {
	var f flags
	for ; ; i = SkipPlain(s.b, i) {
		if i >= len(s.b) {
			s.fail(len(s.b), unterminated)
			return
		}
		switch c := s.b[i]; {
		case c == '"':
			s.add(i+1, f)
			return
		case c == '\\':
			n := escapeLen(s.b[i:])
			if n == 0 {
				s.fail(i, badEscape)
				return
			}
			f |= escaped
			i += n
		case c < ' ':
			s.fail(i, rawControl)
			return
		default:
			end, more := s.wide(i)
			if end == i {
				s.fail(i, badUTF8)
				return
			}
			f |= more
			i = end
		}
	}
}

// wide skips the characters beyond ASCII from i on, up to one that is not allowed there, and tells their flags.
func (s *scanner) wide(i int) (int, flags) {
	f := wide
	for b := s.b[i:]; len(b) > 0 && b[0] >= utf8.RuneSelf; {
		r, n := decodeWide(b)
		switch {
		case n == 0 || isSurrogate(r) && !s.dialect.surrogates():
			return i, f
		case isSurrogate(r):
			f |= surrogate
		case isSeparator(r):
			f |= separator
		}
		b = b[n:]
		i += n
	}
	return i, f
}

// escapeLen returns the length of the escape at the start of b, 0 if it is none.
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

// decodeEscape decodes the escape at the start of b; two escapes that make a surrogate pair are one character. What is
// not an escape is taken as a backslash.
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

func isHigh(r rune) bool      { return r >= 0xd800 && r < 0xdc00 }
func isLow(r rune) bool       { return r >= 0xdc00 && r < 0xe000 }
func isSurrogate(r rune) bool { return r >= 0xd800 && r < 0xe000 }

// decodeWide decodes the character at the start of b, whose first byte is not ASCII. Surrogates as three bytes
// (WTF-8) are decoded too; n is 0 for whatever else is not UTF-8. The usual lengths are tried first, for speed.
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

// inner returns what stands between the quotes of str.
func inner(str []byte) []byte {
	if len(str) < 2 {
		return nil
	}
	return str[1 : len(str)-1]
}

// AppendText appends the decoded text of the string str. Lone surrogates become three bytes each, which is not UTF-8
// but keeps different texts different, and in the order in which Python sorts them.
func AppendText(dst, str []byte) []byte {
	s := inner(str)
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 {
			return append(dst, s...)
		}
		dst = append(dst, s[:i]...)
		r, n := decodeEscape(s[i:])
		dst = appendWTF8(dst, r)
		s = s[i+n:]
	}
}

// Text returns the decoded text of the string str. Lone surrogates become U+FFFD.
func Text(str []byte) string {
	s := inner(str)
	if bytes.IndexByte(s, 0xed) < 0 {
		return textOf(s)
	}
	text := AppendText(make([]byte, 0, len(s)), str)
	for i := 0; ; i++ {
		n := bytes.IndexByte(text[i:], 0xed)
		if n < 0 {
			break
		}
		if i += n; i+2 < len(text) && text[i+1] >= 0xa0 {
			copy(text[i:], "\ufffd")
		}
	}
	return string(text)
}

// textOf is Text of a string without surrogates as bytes, given without its quotes.
func textOf(s []byte) string {
	i := bytes.IndexByte(s, '\\')
	if i < 0 {
		return string(s)
	}
	var text strings.Builder
	for text.Grow(len(s)); i >= 0; i = bytes.IndexByte(s, '\\') {
		text.Write(s[:i])
		if i+1 < len(s) && units[s[i+1]].escape {
			text.WriteByte(byte(shortEscape(s[i+1])))
			s = s[i+2:]
			continue
		}
		r, n := decodeEscape(s[i:])
		text.WriteRune(r) // of a surrogate U+FFFD
		s = s[i+n:]
	}
	text.Write(s)
	return text.String()
}
