package eventslog

import "github.com/amplifier-go/sessionstorage/internal/pyjson"

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
	empty      bool  // the object has no members
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
		if s.state >= firstKey && s.state <= afterValue {
			if i = s.quick(p, i); i == len(p) {
				break
			}
		}
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
