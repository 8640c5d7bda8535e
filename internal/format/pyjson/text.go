package pyjson

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// inner returns the text between the quotes of str.
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

// Text returns the decoded text of the string str, and "" for any other value. Lone surrogates become U+FFFD.
func Text(str []byte) string {
	if len(str) == 0 || str[0] != '"' {
		return ""
	}
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

// Head is [Text] of the beginning of the string str, of no more than most bytes of it, and
// reports whether that is all of it.
func Head(str []byte, most int) (text string, whole bool) {
	if len(str) <= most || len(str) == 0 || str[0] != '"' {
		return Text(str), true
	}
	s, end := inner(str), 0
	for end < most {
		i := bytes.IndexByte(s[end:], '\\')
		if i < 0 || end+i >= most {
			for end = min(most, len(s)); end > 0 && end < len(s) && !utf8.RuneStart(s[end]); end-- { // a character stays whole
			}
			break
		}
		_, n := decodeEscape(s[end+i:])
		end += i + n
	}
	return Text(slices.Concat(str[:1+end], str[:1])), end >= len(s)
}

// textOf is Text for a string without surrogates as bytes, given without its quotes.
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
		text.WriteRune(r) // U+FFFD for a surrogate
		s = s[i+n:]
	}
	text.Write(s)
	return text.String()
}

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

const (
	hexDigits = "0123456789abcdef"
	del       = 0x7f // json.dumps escapes it only if it escapes everything but printable ASCII
)

// Quote returns text as a JSON string.
func Quote(text string) []byte { return AppendQuoted(nil, text, Style{}) }

// AppendQuoted appends the text s as a JSON string as json.dumps would. Bytes that are not UTF-8 become U+FFFD each;
// surrogates as three bytes are written as st.Replace says.
func AppendQuoted(dst []byte, s string, st Style) []byte {
	dst = append(dst, '"')
	for len(s) > 0 {
		i := plainPrefix(s)
		dst = append(dst, s[:i]...)
		if s = s[i:]; s == "" {
			break
		}
		r, n := decodeText(s)
		dst = appendRune(dst, r, st)
		s = s[n:]
	}
	return append(dst, '"')
}

// plainPrefix returns the number of bytes at the start of s that need no escape or check:
// ASCII without quote, backslash and control characters.
func plainPrefix(s string) int {
	for i := range len(s) {
		if c := s[i]; c == '"' || c == '\\' || c < ' ' || c >= del {
			return i
		}
	}
	return len(s)
}

// decodeText decodes the character at the start of s, a surrogate as three bytes too. Other bytes are U+FFFD each.
func decodeText(s string) (rune, int) {
	r, n := utf8.DecodeRuneInString(s)
	if r != utf8.RuneError || n == 3 {
		return r, n
	}
	if r, n := decodeWide([]byte(s[:min(len(s), 3)])); n == 3 {
		return r, n
	}
	return utf8.RuneError, 1
}

// appendString appends s, the text between the quotes of a JSON string, written anew. The
// string has the flags f.
func appendString(dst, s []byte, f flags, st Style) []byte {
	for {
		i := skipKept(s, f, st)
		dst = append(dst, s[:i]...)
		if s = s[i:]; len(s) == 0 {
			return dst
		}
		var r rune
		n := 1
		switch {
		case s[0] == del:
			r = del
		case s[0] != '\\':
			r, n = decodeWide(s)
		case len(s) > 1 && s[1] != 'u' && s[1] != '/':
			dst, s = append(dst, s[:2]...), s[2:]
			continue
		default:
			r, n = decodeEscape(s)
		}
		dst = appendRune(dst, r, st)
		s = s[n:]
	}
}

// skipKept returns the number of bytes at the start of s that are written unchanged.
func skipKept(s []byte, f flags, st Style) int {
	if !st.ASCII && f&st.rewritten()&^escaped == 0 {
		if i := bytes.IndexByte(s, '\\'); i >= 0 {
			return i
		}
		return len(s)
	}
	for i, c := range s {
		if c == '\\' || c >= del {
			return i
		}
	}
	return len(s)
}

// appendRune appends one character of a string.
func appendRune(dst []byte, r rune, st Style) []byte {
	switch {
	case r < ' ' || r == '"' || r == '\\':
		return appendShort(dst, r)
	case isSurrogate(r):
		if !st.Replace {
			return appendHex(dst, r)
		}
		r = utf8.RuneError
	}
	switch {
	case r < del, !st.ASCII && !(st.Portable && isSeparator(r)):
		return utf8.AppendRune(dst, r)
	case r > 0xffff:
		r -= 0x10000
		return appendHex(appendHex(dst, 0xd800+r>>10), 0xdc00+r&0x3ff)
	}
	return appendHex(dst, r)
}

// appendShort appends a character that is always escaped.
func appendShort(dst []byte, r rune) []byte {
	switch r {
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '"', '\\':
		return append(dst, '\\', byte(r))
	}
	return appendHex(dst, r)
}

func appendHex(dst []byte, r rune) []byte {
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}
