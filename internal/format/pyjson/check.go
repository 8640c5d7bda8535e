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

// scanner reads one value. It stops at the first error.
type scanner struct {
	b       []byte
	i       int // the next byte
	dialect Dialect
	problem problem
	failed  int // offset of the problem

	depth   int
	closer  byte                         // the byte that closes the innermost container
	objects [(MaxDepth + 64) / 64]uint64 // bit d: the container inside d others is an object

	tape *tape // records the nodes, unless nil

	spans *[]Span // gets the members of the outermost object, unless nil
	span  Span    // the present member; zero outside of a member
}

func (s *scanner) fail(at int, p problem) { s.failed, s.problem = at, p }

func (s *scanner) space() {
	if s.i < len(s.b) && s.b[s.i] <= ' ' {
		s.i = skipSpace(s.b, s.i)
	}
}

// isNext reports whether c is the next byte.
func (s *scanner) isNext(c byte) bool { return s.i < len(s.b) && s.b[s.i] == c }

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

// Span is a member of an object as offsets.
type Span struct {
	Key, KeyEnd     int // with its quotes
	Value, ValueEnd int

	// Typed reports whether the value may hold an object in an array, with a type that is
	// neither text nor thinking.
	Typed bool
}

// node is one value or key of a scanned text. Nodes are in the order of the text: a
// container, then its content, where a member of an object takes one node for its key and
// one or more for its value.
type node struct {
	at, end int // its bytes

	// next is, of a key, the value to write with it, at first its own; of any other node, the node behind it and its
	// content; of a container that is still open, the container around it.
	next  int
	flags flags
}

// flags describe the content of a string, and for a key, the way to write its member.
type flags uint8

const (
	escaped   flags = 1 << iota // the string has a backslash
	wide                        // it has characters beyond ASCII
	separator                   // it has U+0085, U+2028 or U+2029 unescaped
	surrogate                   // it has a surrogate as bytes
	dropped                     // the member is not written
	renamed                     // it is written as thinking_text
	whole                       // its value is not sanitised
)

// tape holds the nodes of a text. The first are part of it, so that the tape of a small text can stay on the stack.
type tape struct {
	few  [128]node
	many []node // the nodes from len(few) on
	size int
	open int // the innermost open container
	text int // length of the text
}

// node returns node i.
func (t *tape) node(i int) *node {
	if i < len(t.few) {
		return &t.few[i]
	}
	return &t.many[i-len(t.few)]
}

func (t *tape) add(n node) {
	if t.size < len(t.few) {
		t.few[t.size] = n
	} else {
		t.spill(n)
	}
	t.size++
}

// spill adds a node that is not one of the few. The first time it makes room for the
// estimated number of nodes of the text.
func (t *tape) spill(n node) {
	const most = 1 << 16
	if t.many == nil {
		t.many = make([]node, 0, min(t.size*(t.text/n.at)+1, most))
	}
	t.many = append(t.many, n)
}

// scalar adds a scalar or a key.
func (t *tape) scalar(at, end int, f flags) {
	if t != nil {
		t.add(node{at: at, end: end, next: t.size + 1, flags: f})
	}
}

// push adds a container that begins at the offset at.
func (t *tape) push(at int) {
	if t != nil {
		t.add(node{at: at, next: t.open})
		t.open = t.size - 1
	}
}

// pop ends the innermost container at the offset end.
func (t *tape) pop(end int) {
	if t != nil {
		n := t.node(t.open)
		t.open = n.next
		n.end, n.next = end, t.size
	}
}

// number reads the number that begins at the next byte; anything else there is not a value at all.
func (s *scanner) number() {
	b, i := s.b, s.i
	if b[i] == '-' {
		i++
	}
	if i < len(b) && (b[i] == 'N' || b[i] == 'I') {
		s.constant()
		return
	}
	digits := i
	i = skipDigits(b, i)
	switch {
	case i == digits:
		s.fail(s.i, valueExpected)
		return
	case b[digits] == '0':
		i = digits + 1
	}
	end := skipFloat(b, i)
	if end == i && i-digits > MaxDigits {
		s.fail(s.i, longInteger)
		return
	}
	s.add(end, 0)
}

// constant reads NaN, Infinity or -Infinity.
func (s *scanner) constant() {
	for _, word := range [...]string{"NaN", "Infinity", "-Infinity"} {
		if !bytes.HasPrefix(s.b[s.i:], []byte(word)) {
			continue
		}
		if !s.dialect.constants() {
			s.fail(s.i, notFinite)
			return
		}
		s.add(s.i+len(word), 0)
		return
	}
	s.fail(s.i, valueExpected)
}

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
