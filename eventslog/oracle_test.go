package eventslog

import (
	"strings"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// The scanner that read logs before package pyjson did is the oracle of FuzzScanner. It takes
// a line in pieces of any size, and of pyjson it has the texts and the truth of values alone.

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
	want *oracleValue // the member whose value comes
	sub  *oracleValue // the same inside the data, of the newer dialect
	kept *[]byte      // where the string or number that is read goes; nil: nowhere

	head       oracleHead
	start, end int64 // of the object in the line
	empty      bool  // the object has no members
}

// reset prepares for another line. What was kept is overwritten.
func (s *scanner) reset() {
	s.state, s.at, s.depth, s.carry = beforeObject, 0, 0, s.carry[:0]
	s.want, s.sub, s.kept = nil, nil, nil
	h := &s.head
	for _, v := range [...]*oracleValue{&h.ts, &h.timestamp, &h.event, &h.level, &h.session, &h.parent, &h.data, &h.inner} {
		*v = oracleValue{raw: v.raw[:0]}
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

// text reads inside a string.
func (s *scanner) text(p []byte, i int) int {
	for {
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

// skipText returns where from i on there is something else than plain text.
func skipText(p []byte, i int) int {
	for i < len(p) && p[i] >= ' ' && p[i] < utf8.RuneSelf && p[i] != '"' && p[i] != '\\' {
		i++
	}
	return i
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
	case s.newer && at == 0 && string(c) == bom:
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
