package eventslog

import (
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// around reads what stands before or behind the object: what str.strip
// removes, or JSON white space in the newer dialect.
func (s *scanner) around(p []byte, i int) int {
	c := p[i]
	switch {
	case isSpace(c), !s.newer && (c == '\v' || c == '\f' || 0x1c <= c && c <= 0x1f):
	case c == '{' && s.state == beforeObject:
		s.start = s.at + int64(i)
		s.enter(c)
	case c >= utf8.RuneSelf:
		return s.wide(p, i)
	default:
		s.state = bad
	}
	return i + 1
}

// token reads the byte c, which begins or ends something.
func (s *scanner) token(c byte, at int64) {
	switch s.state {
	case firstKey, nextKey:
		if c == '}' && s.state == firstKey {
			s.leave(at, true)
			return
		}
		s.state = bad
		if c == '"' {
			s.beginKey()
		}
	case colon:
		s.state = bad
		if c == ':' {
			s.state = valueState
		}
	case firstElement:
		if c == ']' {
			s.leave(at, true)
			return
		}
		s.begin(c, at)
	case valueState:
		s.begin(c, at)
	case afterValue:
		s.separator(c, at)
	}
}

// separator reads what follows a value inside a container.
func (s *scanner) separator(c byte, at int64) {
	object := s.inObject()
	switch {
	case c == ',' && object:
		s.state = nextKey
	case c == ',':
		s.state = valueState
	case c == '}' && object, c == ']' && !object:
		s.leave(at, false)
	default:
		s.state = bad
	}
}

// enter reads the opening of a container.
func (s *scanner) enter(c byte) {
	if s.depth == pyjson.MaxDepth {
		s.state = bad
		return
	}
	word, bit := s.depth>>6, uint64(1)<<(s.depth&63)
	if c == '{' {
		s.objects[word] |= bit
		s.state = firstKey
	} else {
		s.objects[word] &^= bit
		s.state = firstElement
	}
	s.depth++
}

// leave reads the end of the innermost container at the offset at.
func (s *scanner) leave(at int64, empty bool) {
	s.depth--
	if s.depth == 0 {
		s.end, s.empty = at+1, empty
		s.state = afterObject
		return
	}
	if v := s.target(); v != nil {
		v.empty = empty
	}
	s.finish(at + 1)
}

// begin reads the first byte of a value.
func (s *scanner) begin(c byte, at int64) {
	kind := pyjson.Object
	switch {
	case c == '{' || c == '[':
		if c == '[' {
			kind = pyjson.Array
		}
		s.found(kind, at, false)
		s.enter(c)
		return
	case c == '"':
		kind = pyjson.String
		s.state, s.isKey = inString, false
	case c == '-' || '0' <= c && c <= '9':
		kind = pyjson.Integer
		s.beginNumber(c)
	default:
		if kind = s.beginWord(c); kind == pyjson.Invalid {
			s.state = bad
			return
		}
	}
	s.found(kind, at, true)
	s.keep(c)
}
