package eventslog

import "github.com/amplifier-go/sessionstorage/internal/pyjson"

// maxKept is how much of a member's value is kept.
const maxKept = 64 << 10

// maxKey is more than the longest name that is looked for, all of it escaped.
const maxKey = 160

// state is what the scanner expects next.
type state uint8

const (
	beforeObject state = iota
	firstKey           // a key or the end of the object
	nextKey
	colon
	firstElement // a value or the end of the array
	valueState
	afterValue
	inString
	inEscape
	inHex
	inLiteral
	inNumber
	afterObject
	bad
)

// value is a member of the line's object as far as it was kept.
type value struct {
	kind       pyjson.Kind // Invalid: there is none
	raw        []byte      // of a scalar, at most maxKept bytes
	empty      bool        // a container without content
	start, end int64       // in the line
}

// scanner reads one line in pieces of any size and decides whether it is an
// event: an object that json.loads accepts after str.strip. It keeps the
// members of the head; of several of one name the last counts.
type scanner struct {
	newer bool // the dialect of the newer tools

	state   state
	at      int64  // offset in the line of the piece that is read
	carry   []byte // the beginning of a character that the next piece ends
	depth   int
	objects [(pyjson.MaxDepth + 64) / 64]uint64 // bit d: the container that d others are around is an object

	isKey   bool   // the string is a key
	hex     int    // digits that \u still needs
	literal string // what is left of a word
	number  numberState
	digits  int // of the number, while it is an integer

	key  []byte
	want *value  // the member whose value comes
	sub  *value  // the same inside the data, of the newer dialect
	kept *[]byte // where the string or number that is read goes; nil: nowhere

	head       head
	start, end int64 // of the object in the line
}

// head are the members that are kept.
type head struct {
	ts, timestamp, event, level, session, parent, data value
	inner                                              value // the data's session_id, in the newer dialect
}

// member returns the member that the key names, or nil.
func (h *head) member(key []byte) *value {
	switch {
	case pyjson.KeyIs(key, "ts"):
		return &h.ts
	case pyjson.KeyIs(key, "timestamp"):
		return &h.timestamp
	case pyjson.KeyIs(key, "event"):
		return &h.event
	case pyjson.KeyIs(key, "lvl"):
		return &h.level
	case pyjson.KeyIs(key, "session_id"):
		return &h.session
	case pyjson.KeyIs(key, "parent_session_id"):
		return &h.parent
	case pyjson.KeyIs(key, "data"):
		return &h.data
	}
	return nil
}

// reset prepares for another line. What was kept is overwritten.
func (s *scanner) reset() {
	s.state, s.at, s.depth, s.carry = beforeObject, 0, 0, s.carry[:0]
	s.want, s.sub, s.kept = nil, nil, nil
	h := &s.head
	for _, v := range [...]*value{&h.ts, &h.timestamp, &h.event, &h.level, &h.session, &h.parent, &h.data, &h.inner} {
		*v = value{raw: v.raw[:0]}
	}
}

// valid reports whether the line, which was read to its end, is an event.
func (s *scanner) valid() bool { return s.state == afterObject && len(s.carry) == 0 }

// feed reads the next piece of the line.
func (s *scanner) feed(p []byte) {
	if len(s.carry) > 0 {
		p = s.complete(p)
	}
	for i := 0; i < len(p) && s.state != bad; {
		i = s.step(p, i)
	}
	s.at += int64(len(p))
}

// step reads from p[i] on, at least one byte, and returns where it stopped.
func (s *scanner) step(p []byte, i int) int {
	switch s.state {
	case inString:
		return s.text(p, i)
	case inNumber:
		return s.digit(p, i)
	case beforeObject, afterObject:
		return s.around(p, i)
	case inEscape, inHex:
		s.escape(p[i])
	case inLiteral:
		s.word(p[i], s.at+int64(i))
	default:
		if !isSpace(p[i]) {
			s.token(p[i], s.at+int64(i))
		}
	}
	return i + 1
}

// isSpace reports whether c is white space of JSON. No LF comes here, and CR
// only in the newer dialect.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

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

func (s *scanner) inObject() bool {
	d := s.depth - 1
	return s.objects[d>>6]>>(d&63)&1 == 1
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
		s.end = at + 1
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

// target returns the member that is looked for and whose value is read, not a
// part of it; nil if there is none.
func (s *scanner) target() *value {
	switch s.depth {
	case 1:
		return s.want
	case 2:
		return s.sub
	}
	return nil
}

// found notes where the value of a member that is looked for begins.
func (s *scanner) found(kind pyjson.Kind, at int64, scalar bool) {
	v := s.target()
	if v == nil {
		return
	}
	*v = value{kind: kind, raw: v.raw[:0], start: at}
	if scalar {
		s.kept = &v.raw
	}
	if v == &s.head.data {
		s.head.inner = value{raw: s.head.inner.raw[:0]}
	}
}

// finish ends a value inside a container before the offset at.
func (s *scanner) finish(at int64) {
	s.state = afterValue
	v := s.target()
	if v == nil {
		return
	}
	v.end = at
	s.sub, s.kept = nil, nil
	if s.depth == 1 {
		s.want = nil
	}
}

func (s *scanner) beginKey() {
	s.state, s.isKey = inString, true
	if s.looking() {
		s.key = append(s.key[:0], '"')
		s.kept = &s.key
	}
}

// looking reports whether the key that is read may be one that is looked for.
func (s *scanner) looking() bool {
	return s.depth == 1 || s.newer && s.depth == 2 && s.want == &s.head.data && s.inObject()
}

// finishString ends a key or a value before the offset at.
func (s *scanner) finishString(at int64) {
	if !s.isKey {
		s.finish(at)
		return
	}
	s.state = colon
	if !s.looking() {
		return
	}
	s.kept = nil
	known := len(s.key) < maxKey
	switch {
	case s.depth == 2:
		s.sub = nil
		if known && pyjson.KeyIs(s.key, "session_id") {
			s.sub = &s.head.inner
		}
	case known:
		s.want = s.head.member(s.key)
	default:
		s.want = nil
	}
}

// keep keeps one byte of what is read.
func (s *scanner) keep(c byte) {
	if s.kept != nil && len(*s.kept) < s.room() {
		*s.kept = append(*s.kept, c)
	}
}

// keepAll keeps the bytes p.
func (s *scanner) keepAll(p []byte) {
	if s.kept != nil {
		n := max(s.room()-len(*s.kept), 0)
		*s.kept = append(*s.kept, p[:min(n, len(p))]...)
	}
}

func (s *scanner) room() int {
	if s.kept == &s.key {
		return maxKey
	}
	return maxKept
}
