package pyjson

import (
	"bytes"
	"strings"
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
