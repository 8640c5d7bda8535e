package pyjson

import (
	"slices"
	"strconv"
	"strings"
)

// Reason is the reason why a text was refused.
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
	What   string // the fault, a constant text
}

// Error returns a text such as "invalid JSON at byte 12: bad escape".
func (e *Error) Error() string {
	if e.Place != "" {
		return "refused JSON value " + e.Place + ": " + e.What
	}
	return "invalid JSON at byte " + strconv.Itoa(e.Offset) + ": " + e.What
}

// problem is the fault of a text. A scanner or writer holds it as a number, so that
// errors share no memory with it and its buffers can stay on the stack.
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

// maxSteps limits how deep a place is described.
const maxSteps = 12

// step is one open container on the way to an offset.
type step struct {
	object bool
	count  int  // members or elements begun before the offset
	key    int  // offset of the key of the last member begun
	atKey  bool // a string that follows is a key
}

// wellKnown are the names of members that errors show: of sessions, of messages, of the blocks and usage of providers,
// and common ones of tools.
const wellKnown = `role content timestamp metadata name tool_calls tool_call_id tool_name call_id function arguments args
 id type text title message messages input output prompt result results data value values item items index count total
 thinking thinking_block thinking_text content_blocks signature encrypted_content redacted_thinking summary reasoning
 image image_url images source media_type url title citations cache_control is_error error status code reason event payload
 model provider stop_reason usage input_tokens output_tokens total_tokens cached_input_tokens reasoning_output_tokens
 cache_read_input_tokens cache_creation_input_tokens prompt_tokens completion_tokens cost cost_usd price duration duration_ms
 session_id parent_id bundle created created_at updated updated_at turn turn_count working_dir description config tags version
 path file_path file files command pattern query limit offset line lines start end size width height depth timeout
 ratio score scores probability confidence temperature top_p weight rate percent min max mean average
 user assistant system tool tools properties parameters options state phase phase_id phase_name user_input system_prompt
 v tokenInfo rateLimits latestRateLimits approvedCommands approvals outputs errors history context`

// place describes where in the value b the offset at lies: "content[2].ratio". Members
// whose names are not well-known are shown by their number, counted from 1: they may be
// content. The text before at must be valid.
func place(b []byte, at int) string {
	var steps []step
	top := &step{}
	for i := 0; i < at; i++ {
		switch b[i] {
		case '"':
			if top.object && top.atKey {
				top.key, top.atKey = i, false
				top.count++
			}
			i = skipString(b, i) - 1
		case '{', '[':
			steps = append(steps, step{object: b[i] == '{', atKey: true})
			top = &steps[len(steps)-1]
		case '}', ']':
			steps = steps[:max(len(steps)-1, 0)]
			top = &step{}
			if len(steps) > 0 {
				top = &steps[len(steps)-1]
			}
		case ',':
			top.atKey = true
			if !top.object {
				top.count++
			}
		}
	}
	return describe(b, steps)
}

func describe(b []byte, steps []step) string {
	var out strings.Builder
	for n, s := range steps {
		if n == maxSteps {
			out.WriteString("...")
			break
		}
		if !s.object {
			out.WriteString("[" + strconv.Itoa(s.count) + "]")
			continue
		}
		if n > 0 {
			out.WriteByte('.')
		}
		out.WriteString(memberName(b, s))
	}
	return out.String()
}

// memberName shows a well-known name, else the member's number.
func memberName(b []byte, s step) string {
	name := Text(b[s.key:skipString(b, s.key)])
	if slices.Contains(strings.Fields(wellKnown), name) {
		return name
	}
	return "member " + strconv.Itoa(s.count)
}
