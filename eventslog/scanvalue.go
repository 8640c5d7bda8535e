package eventslog

import (
	"strings"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// text reads inside a string.
func (s *scanner) text(p []byte, i int) int {
	for {
		if s.kept == nil {
			i = pyjson.SkipText(p, i)
		}
		end := skipText(p, i)
		s.keepAll(p[i:end])
		if end == len(p) {
			return end
		}
		switch c := p[end]; {
		case c == '"':
			s.keep(c)
			s.finishString(s.at + int64(end) + 1)
			return end + 1
		case c == '\\':
			s.keep(c)
			s.state = inEscape
			return end + 1
		case c < ' ':
			s.state = bad
			return end + 1
		}
		for i = end; i < len(p) && p[i] >= utf8.RuneSelf && s.state == inString; {
			i = s.wide(p, i)
		}
		if i == len(p) || s.state != inString {
			return i
		}
	}
}

// skipText is [pyjson.SkipPlain] that goes over escapes of two bytes, too.
func skipText(p []byte, i int) int {
	for {
		i = pyjson.SkipPlain(p, i)
		if i+1 >= len(p) || p[i] != '\\' || !isShort(p[i+1]) {
			return i
		}
		i += 2
	}
}

// isShort reports whether c makes an escape with the backslash before it.
func isShort(c byte) bool {
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	}
	return false
}

// escape reads one byte behind a backslash.
func (s *scanner) escape(c byte) {
	s.keep(c)
	switch {
	case s.state == inHex && strings.IndexByte("0123456789abcdefABCDEF", c) >= 0:
		if s.hex--; s.hex == 0 {
			s.state = inString
		}
	case s.state == inHex:
		s.state = bad
	case c == 'u':
		s.state, s.hex = inHex, 4
	case isShort(c):
		s.state = inString
	default:
		s.state = bad
	}
}

// wide reads the character at p[i], which is not ASCII. What p has only the
// beginning of is carried over to the next piece.
func (s *scanner) wide(p []byte, i int) int {
	n, full := s.character(p[i:])
	if !full {
		s.carry = append(s.carry, p[i:]...)
		return len(p)
	}
	s.accept(p[i:i+n], s.at+int64(i))
	return i + n
}

// complete reads the character whose beginning was carried over.
func (s *scanner) complete(p []byte) []byte {
	for len(p) > 0 {
		s.carry = append(s.carry, p[0])
		p = p[1:]
		s.at++
		if n, full := s.character(s.carry); full {
			s.accept(s.carry[:n], s.at-int64(len(s.carry)))
			s.carry = s.carry[:0]
			return p
		}
	}
	return p
}

// character returns the length of the character that p begins with, 0 if it
// is none; full is false when p may be its beginning. The newer dialect has
// surrogates, too.
func (s *scanner) character(p []byte) (n int, full bool) {
	if s.newer && p[0] == 0xed && (len(p) == 1 || p[1] >= 0xa0 && p[1] < 0xc0) {
		if len(p) < 3 {
			return 0, false
		}
		if p[2]&0xc0 == 0x80 {
			return 3, true
		}
	}
	if !utf8.FullRune(p) {
		return 0, false
	}
	r, n := utf8.DecodeRune(p)
	if r == utf8.RuneError && n == 1 {
		return 0, true
	}
	return n, true
}

// accept takes the character c at the offset at, which is empty when it is
// none.
func (s *scanner) accept(c []byte, at int64) {
	switch {
	case len(c) == 0:
		s.state = bad
	case s.state == inString:
		s.keepAll(c)
	case s.newer && at == 0 && string(c) == byteOrderMark:
	case !s.newer && len(pyjson.TrimSpace(c)) == 0:
	default:
		s.state = bad
	}
}

// beginWord begins a literal.
func (s *scanner) beginWord(c byte) pyjson.Kind {
	s.state = inLiteral
	switch {
	case c == 't':
		s.literal = "rue"
		return pyjson.True
	case c == 'f':
		s.literal = "alse"
		return pyjson.False
	case c == 'n':
		s.literal = "ull"
		return pyjson.Null
	case c == 'N' && !s.newer:
		s.literal = "aN"
		return pyjson.Float
	case c == 'I' && !s.newer:
		s.literal = "nfinity"
		return pyjson.Float
	}
	return pyjson.Invalid
}

// word reads one byte of a literal. Its end is not waited for: it has no other.
func (s *scanner) word(c byte, at int64) {
	if c != s.literal[0] {
		s.state = bad
		return
	}
	s.keep(c)
	if s.literal = s.literal[1:]; s.literal == "" {
		s.finish(at + 1)
	}
}

const byteOrderMark = "\ufeff"
