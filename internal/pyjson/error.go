package pyjson

import "strconv"

// Reason says why a text was refused.
type Reason uint8

// The reasons.
const (
	Syntax      Reason = iota // not JSON
	BadUTF8                   // not UTF-8
	TooDeep                   // containers nested deeper than allowed
	LongInteger               // an integer of more than [MaxDigits] digits
	NotFinite                 // NaN, an infinity, or a float that overflows, where these are refused
	NotObject                 // a message that is not an object
)

// Error reports a text or value that was refused. It never holds content of the value.
type Error struct {
	Offset int    // of the first byte that was refused
	Reason Reason // why
	Place  string // of a refused value in the whole one, as in "content[2].ratio"; "" for the whole value or bad syntax
	What   string // what is wrong, a constant text
}

// Error returns a text such as "invalid JSON at byte 12: bad escape".
func (e *Error) Error() string {
	if e.Place != "" {
		return "refused JSON value " + e.Place + ": " + e.What
	}
	return "invalid JSON at byte " + strconv.Itoa(e.Offset) + ": " + e.What
}

// problem is what is wrong with a text. A scanner or writer holds it as a number, so that errors share no memory with
// it and its buffers can stay on the stack.
type problem uint8

const (
	none problem = iota
	unexpectedEnd
	textAfterValue
	valueExpected
	keyExpected
	colonExpected
	endExpected
	unterminated
	badEscape
	rawControl
	badUTF8
	tooDeep
	longInteger
	notFinite
	notObject
)

// at returns the problem as an error. The value b is described up to the offset, unless its syntax is bad.
func (p problem) at(offset int, b []byte) *Error {
	e := &Error{Offset: offset, Reason: p.reason(), What: p.text()}
	if e.Reason != Syntax && e.Reason != BadUTF8 {
		e.Place = place(b, offset)
	}
	return e
}

func (p problem) reason() Reason {
	switch p {
	case badUTF8:
		return BadUTF8
	case tooDeep:
		return TooDeep
	case longInteger:
		return LongInteger
	case notFinite:
		return NotFinite
	case notObject:
		return NotObject
	}
	return Syntax
}

func (p problem) text() string {
	return [...]string{
		none:           "no value",
		unexpectedEnd:  "unexpected end",
		textAfterValue: "text after the value",
		valueExpected:  "value expected",
		keyExpected:    "key expected",
		colonExpected:  "colon expected",
		endExpected:    "comma or end of container expected",
		unterminated:   "unterminated string",
		badEscape:      "bad escape",
		rawControl:     "control character in string",
		badUTF8:        "not UTF-8",
		tooDeep:        "nested too deep",
		longInteger:    "integer too long",
		notFinite:      "not a finite number",
		notObject:      "not an object",
	}[p]
}
