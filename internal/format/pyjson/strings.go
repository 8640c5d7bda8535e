package pyjson

import (
	"unicode/utf8"
)

// str reads the string that begins at the next byte.
func (s *scanner) str() {
	if s.tape == nil { // its flags are not needed
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

// wide skips the characters beyond ASCII from i on, up to a character that is not allowed
// there. It returns the index behind them, and their flags.
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
