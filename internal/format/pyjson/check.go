package pyjson

import (
	"bytes"
	"unicode/utf8"
)

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

// begin reads a scalar, an empty container, or the start of another container up to its
// first value; it reports whether the next byte begins that first value.
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

// next goes on behind a complete value: it closes the containers that end there and
// reports whether the next byte begins another value.
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

// CheckSpans is Check that also appends the members of the outermost object to spans, in
// their order. After an error spans has the members before it.
func CheckSpans(b []byte, d Dialect, spans *[]Span) error {
	s := scanner{b: b, dialect: d, spans: spans}
	s.scan()
	if s.problem == none {
		return nil
	}
	return s.failure()
}

// keep notes the key from at to end of the outermost object or of one in an array in it, before its value.
func (s *scanner) keep(at, end int) {
	if s.depth == 1 {
		s.span = Span{Key: at, KeyEnd: end, Value: s.i}
		return
	}
	if key := s.b[at:end]; string(key) == `"type"` || bytes.IndexByte(key, '\\') >= 0 {
		value := s.b[s.i:]
		s.span.Typed = s.span.Typed || !bytes.HasPrefix(value, []byte(`"text"`)) && !bytes.HasPrefix(value, []byte(`"thinking"`))
	}
}
