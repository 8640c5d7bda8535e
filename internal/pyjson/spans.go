package pyjson

import "bytes"

// Span is a member of an object as offsets.
type Span struct {
	Key, KeyEnd     int // with its quotes
	Value, ValueEnd int

	// Typed tells that the value may hold an object in an array, with a type that is neither text nor thinking.
	Typed bool
}

// CheckSpans is Check that also appends the members of the outermost object to spans, in their order. After an error
// those before it are there.
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
