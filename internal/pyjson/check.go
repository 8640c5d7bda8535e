package pyjson

import (
	"bytes"
	"unicode/utf8"
)

// Limits of Python's reader.
const (
	MaxDepth  = 1000 // containers around a value; Python 3.11 stops there (its recursion limit), later ones further on
	MaxDigits = 4300 // digits of an integer
)

// Dialect names what is accepted as JSON.
type Dialect uint8

const (
	// Tolerant is what json.loads accepts in a text: also NaN, Infinity, -Infinity and lone surrogates as escapes.
	// The bytes must be UTF-8.
	Tolerant Dialect = iota
	// Strict is what the newer tools accept in bytes: no NaN and no infinities as literals, but surrogates as
	// three bytes (ED A0 80 to ED BF BF) and one byte order mark at the start.
	Strict

	// either accepts what one of the others does; the writers read so.
	either
)

// constants reports whether NaN, Infinity and -Infinity are numbers.
func (d Dialect) constants() bool { return d != Strict }

// surrogates reports whether surrogates may stand as bytes, and a byte order mark at the start.
func (d Dialect) surrogates() bool { return d != Tolerant }

// Check reports whether b is exactly one JSON value with nothing but JSON white space around it. Its error is an
// [*Error]. Bytes that are not UTF-8 are reported before anything else, as Python decodes before it reads.
func Check(b []byte, d Dialect) error {
	s := scanner{b: b, dialect: d}
	s.scan()
	if s.problem == none {
		return nil
	}
	return s.failure()
}

// failure returns the error of a scan that failed.
func (s *scanner) failure() *Error {
	if at := invalidUTF8(s.b, s.dialect); at >= 0 {
		return badUTF8.at(at, s.b)
	}
	return s.problem.at(s.failed, s.b)
}

// invalidUTF8 returns the offset of the first byte that does not belong to a character, or -1.
func invalidUTF8(b []byte, d Dialect) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := decodeWide(b[i:])
		if n == 0 || isSurrogate(r) && !d.surrogates() {
			return i
		}
		i += n
	}
	return -1
}

// scanner reads one value. It stops at the first error.
type scanner struct {
	b       []byte
	i       int // the next byte
	dialect Dialect
	problem problem
	failed  int // where the problem is

	depth   int
	closer  byte                         // what closes the innermost container
	objects [(MaxDepth + 64) / 64]uint64 // bit d: the container that d others are around is an object

	tape *tape // records what is read, unless nil

	spans *[]Span // gets the members of the outermost object, unless nil
	span  Span    // the one that is read; zero outside of one
}

func (s *scanner) fail(at int, p problem) { s.failed, s.problem = at, p }

// scan reads the value and the white space around it.
func (s *scanner) scan() {
	if s.dialect.surrogates() && bytes.HasPrefix(s.b, []byte(bom)) {
		s.i = len(bom)
	}
	s.space()
	for s.begin() || s.next() {
	}
	if s.problem == none && s.i < len(s.b) {
		s.fail(s.i, textAfterValue)
	}
}

func (s *scanner) space() {
	if s.i < len(s.b) && s.b[s.i] <= ' ' {
		s.i = skipSpace(s.b, s.i)
	}
}

// isNext reports whether c is the next byte.
func (s *scanner) isNext(c byte) bool { return s.i < len(s.b) && s.b[s.i] == c }

// begin reads a scalar, an empty container, or the start of another container up to its first value; it reports
// whether it stands before that first value.
func (s *scanner) begin() bool {
	if s.i >= len(s.b) {
		s.fail(s.i, unexpectedEnd)
		return false
	}
	switch s.b[s.i] {
	case '"':
		s.str()
	case '{', '[':
		return s.enter()
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		s.number()
	}
	return false
}

// next goes on behind a complete value: it closes what ends there and reports whether it stands before another value.
func (s *scanner) next() bool {
	for s.problem == none {
		if s.depth == 1 && s.span.Value > 0 {
			s.span.ValueEnd = s.i
			*s.spans = append(*s.spans, s.span)
		}
		s.space()
		if s.depth == 0 {
			return false
		}
		if s.i >= len(s.b) {
			s.fail(s.i, unexpectedEnd)
			return false
		}
		switch s.b[s.i] {
		case ',':
			s.i++
			s.space()
			return s.closer == ']' || s.key()
		case s.closer:
			s.leave()
		default:
			s.fail(s.i, endExpected)
		}
	}
	return false
}

// enter reads the opening of a container and, of an object, its first key.
func (s *scanner) enter() bool {
	if s.depth == MaxDepth {
		s.fail(s.i, tooDeep)
		return false
	}
	word, bit := s.depth>>6, uint64(1)<<(s.depth&63)
	if s.b[s.i] == '{' {
		s.closer = '}'
		s.objects[word] |= bit
	} else {
		s.closer = ']'
		s.objects[word] &^= bit
	}
	s.depth++
	s.tape.push(s.i)
	s.i++
	s.space()
	if s.isNext(s.closer) {
		s.leave()
		return false
	}
	return s.closer == ']' || s.key()
}

// leave reads the end of the innermost container.
func (s *scanner) leave() {
	s.i++
	s.tape.pop(s.i)
	s.depth--
	if s.depth == 0 {
		return
	}
	s.closer = ']'
	if around := s.depth - 1; s.objects[around>>6]>>(around&63)&1 == 1 {
		s.closer = '}'
	}
}

// key reads a key and its colon.
func (s *scanner) key() bool {
	if !s.isNext('"') {
		s.fail(s.i, keyExpected)
		return false
	}
	at := s.i
	s.str()
	if s.problem != none {
		return false
	}
	end := s.i
	s.space()
	if !s.isNext(':') {
		s.fail(s.i, colonExpected)
		return false
	}
	s.i++
	s.space()
	if s.spans != nil && (s.depth == 1 || s.depth == 3) {
		s.keep(at, end)
	}
	return true
}

// literal reads the word that is expected at the next byte.
func (s *scanner) literal(word string) {
	if len(s.b)-s.i < len(word) || string(s.b[s.i:s.i+len(word)]) != word {
		s.fail(s.i, valueExpected)
		return
	}
	s.add(s.i+len(word), 0)
}

// add records the scalar or key that ends at the offset end and moves there.
func (s *scanner) add(end int, f flags) {
	s.tape.scalar(s.i, end, f)
	s.i = end
}
