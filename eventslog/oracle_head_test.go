package eventslog

import (
	"bytes"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// maxKey is more than the longest name that is looked for, all of it escaped.
const maxKey = 160

// target returns the member that is looked for and whose value is read, not a
// part of it; nil if there is none.
func (s *scanner) target() *oracleValue {
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
	*v = oracleValue{kind: kind, raw: v.raw[:0], start: at}
	if scalar {
		s.kept = &v.raw
	}
	if v == &s.head.data {
		s.head.inner = oracleValue{raw: s.head.inner.raw[:0]}
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
	if s.looking() {
		s.kept = nil
		s.named()
	}
}

// named notes which member's value comes after the key.
func (s *scanner) named() {
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
	return maxScalar
}

// value is a member of the line's object as far as it was kept.
type oracleValue struct {
	kind       pyjson.Kind // Invalid: there is none
	raw        []byte      // of a scalar, at most maxKept bytes
	empty      bool        // a container without content
	start, end int64       // in the line
}

// head are the members that are kept.
type oracleHead struct {
	ts, timestamp, event, level, session, parent, data oracleValue
	inner                                              oracleValue // the data's session_id, in the newer dialect
}

// member returns the member that the key names, or nil.
func (h *oracleHead) member(key []byte) *oracleValue {
	name := key[1 : len(key)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name = pyjson.AppendText(nil, key)
	}
	switch string(name) {
	case "ts":
		return &h.ts
	case "timestamp":
		return &h.timestamp
	case "event":
		return &h.event
	case "lvl":
		return &h.level
	case "session_id":
		return &h.session
	case "parent_session_id":
		return &h.parent
	case "data":
		return &h.data
	}
	return nil
}

// truthy reports whether Python takes the value for true.
func (v *oracleValue) truthy() bool {
	switch v.kind {
	case pyjson.Object, pyjson.Array:
		return !v.empty
	case pyjson.Invalid:
		return false
	}
	return pyjson.Truthy(v.raw)
}

// text returns the text of a string, and "" for other values.
func (v *oracleValue) text() string {
	if v.kind != pyjson.String {
		return ""
	}
	if len(v.raw) == maxScalar {
		return strings.ToValidUTF8(pyjson.Text(v.raw), "")
	}
	return pyjson.Text(v.raw)
}

func (s *scanner) beginNumber(c byte) {
	s.state, s.digits = inNumber, 1
	switch c {
	case '-':
		s.number, s.digits = minus, 0
	case '0':
		s.number = zero
	default:
		s.number = integer
	}
}

// digit reads on in a number. The byte that ends it is read again.
func (s *scanner) digit(p []byte, i int) int {
	c := p[i]
	next, ok := s.number.after(c)
	switch {
	case ok:
		s.number = next
		if next == integer || next == zero {
			s.digits++
		} else {
			s.float()
		}
		s.keep(c)
		return i + 1
	case s.number == minus && c == 'I' && !s.newer:
		s.state, s.literal = inLiteral, "nfinity"
		s.float()
		s.keep(c)
		return i + 1
	case !s.number.complete() || s.digits > pyjson.MaxDigits && s.number <= integer:
		s.state = bad
	default:
		s.finish(s.at + int64(i))
	}
	return i
}

// float notes that the number is none of the integers.
func (s *scanner) float() {
	if v := s.target(); v != nil {
		v.kind = pyjson.Float
	}
}

// numberState is what was read of a number.
type numberState uint8

const (
	minus numberState = iota
	zero
	integer
	dot
	fraction
	exponent
	exponentSign
	exponentDigits
)

// after returns the state after the byte c, and false if c cannot follow.
func (n numberState) after(c byte) (numberState, bool) {
	switch isDigit := '0' <= c && c <= '9'; {
	case n == minus && c == '0':
		return zero, true
	case isDigit && n == zero:
		return n, false
	case isDigit && n <= integer:
		return integer, true
	case isDigit && n <= fraction:
		return fraction, true
	case isDigit:
		return exponentDigits, true
	case c == '.' && (n == zero || n == integer):
		return dot, true
	case (c == 'e' || c == 'E') && (n == zero || n == integer || n == fraction):
		return exponent, true
	case (c == '+' || c == '-') && n == exponent:
		return exponentSign, true
	}
	return n, false
}

// complete reports whether a number may end here.
func (n numberState) complete() bool {
	return n == zero || n == integer || n == fraction || n == exponentDigits
}
