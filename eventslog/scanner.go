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

func (s *scanner) inObject() bool {
	d := s.depth - 1
	return s.objects[d>>6]>>(d&63)&1 == 1
}

// isSpace reports whether c is white space of JSON. No LF comes here, and CR
// only in the newer dialect.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }
