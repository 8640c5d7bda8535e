package pyjson

import (
	"bytes"
	"unicode/utf8"
)

const (
	hexDigits = "0123456789abcdef"
	del       = 0x7f // json.dumps escapes it only if it escapes everything but printable ASCII
)

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
