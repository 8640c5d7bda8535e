package capture

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
)

// Event is a row that counts.
type Event struct {
	Line    int // from 1
	Name    string
	Session string // "" if it names none
	Data    []byte // a JSON object, or nil
	Row     []byte // the JSON object of the event
}

// Code names a fault of a row.
type Code string

// The codes, in the words of the newest tools. A row is left out but for
// Unscoped.
const (
	Invalid     Code = "invalid_event"           // it is no JSON object with a name of an event
	Incomplete  Code = "incomplete_event"        // it is no JSON, and the last row without an end: a program may be writing it
	InvalidData Code = "invalid_event_data"      // its data is no object
	InvalidID   Code = "invalid_session_id"      // a session's id is no text
	Conflicting Code = "conflicting_session_ids" // it names two sessions
	Unscoped    Code = "unscoped_event"          // it names no session
)

// Diagnostic is a fault of a row. It holds no content.
type Diagnostic struct {
	Code Code
	Line int // from 1
}

// Parse reads one row for the session owner. counts is false for a row that is left out:
// it is empty, another session's, or has the fault code. The event shares the bytes of
// the line.
func Parse(line jsonl.Line, owner string) (e Event, counts bool, code Code) {
	raw := bytes.Trim(line.Bytes, " \t\r\v\f")
	if len(raw) == 0 {
		return Event{}, false, ""
	}
	if pyjson.Check(raw, pyjson.Strict) != nil {
		if line.Ended {
			return Event{}, false, Invalid
		}
		return Event{}, false, Incomplete
	}
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	if pyjson.KindOf(raw) != pyjson.Object {
		return Event{}, false, Invalid
	}
	found := pyjson.Values(raw, "event", "data", "session_id")
	name, ok := turns.IDOf(found[0])
	if !ok || name == "" {
		return Event{}, false, Invalid
	}
	data := found[1]
	if data != nil && pyjson.KindOf(data) != pyjson.Object {
		return Event{}, false, InvalidData
	}
	id, code := sessionOf(data, found[2])
	if code != "" || id != "" && id != owner {
		return Event{}, false, code
	}
	if id == "" {
		code = Unscoped
	}
	return Event{Line: line.Number, Name: name, Session: id, Data: data, Row: raw}, true, code
}

// sessionOf returns the id of the session that a row names, in its data or
// beside it. An empty id, and null, are none.
func sessionOf(data, beside []byte) (id string, code Code) {
	inside := member(data, "session_id")
	for _, raw := range [][]byte{inside, beside} {
		if raw == nil || pyjson.KindOf(raw) == pyjson.Null {
			continue
		}
		text, ok := turns.IDOf(raw)
		switch {
		case !ok:
			return "", InvalidID
		case id != "" && text != "" && id != text:
			return "", Conflicting
		case text != "":
			id = text
		}
	}
	return id, ""
}

// member returns a member of data, nil where there is none.
func member(data []byte, name string) []byte {
	if data == nil {
		return nil
	}
	raw, _ := pyjson.Lookup(data, name)
	return raw
}

// Ref holds the links of an event to a message.
type Ref struct {
	MessageID string   // "" if it names no message
	CallID    string   // of the call of a tool; "" if it names none
	Prompt    [32]byte // SHA-256 of the text that was submitted, if Submits
	Submits   bool     // the event is the submission of a text as a prompt
	Auxiliary bool     // it is about naming or summing up the session, not about its messages
}

// Ref returns the links of the event to a message.
func (e Event) Ref() (r Ref) {
	if e.Data == nil {
		return r
	}
	found := pyjson.Values(e.Data, "tool_call_id", "call_id", "message_id", "prompt")
	r.MessageID, _ = turns.IDOf(found[2])
	if call := found[0]; call != nil && pyjson.Truthy(call) {
		r.CallID, _ = turns.IDOf(call)
	} else {
		r.CallID, _ = turns.IDOf(found[1])
	}
	if e.Name == PromptSubmit {
		r.Prompt, r.Submits = Sum(found[3])
	}
	about := pyjson.Values(e.Data, "purpose", "origin_module")
	r.Auxiliary = isAuxiliary(about[0]) || isAuxiliary(about[1])
	return r
}

// The names of events that this module looks at.
const (
	PromptSubmit = "prompt:submit"
	LLMResponse  = "llm:response"
)

// Sum returns the SHA-256 of the text of a JSON string, in UTF-8 with lone
// surrogates as they are. It returns false for any other value.
func Sum(raw []byte) (sum [32]byte, ok bool) {
	if pyjson.KindOf(raw) != pyjson.String {
		return sum, false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return sha256.Sum256(raw[1 : len(raw)-1]), true
	}
	return sha256.Sum256(pyjson.AppendText(nil, raw)), true
}

// isAuxiliary reports whether the Python text of a value has one of the words in it. A
// value that is no text is searched as it is written in JSON.
func isAuxiliary(raw []byte) bool {
	if raw == nil {
		return false
	}
	text, ok := turns.IDOf(raw)
	if !ok {
		plain, err := pyjson.Append(nil, raw, pyjson.Style{})
		if err != nil {
			return false
		}
		text = string(plain)
	}
	// Python's lower case of İ has two characters, and none of the words holds them.
	text = strings.ToLower(strings.ReplaceAll(text, "İ", "i\u0307"))
	for _, word := range [...]string{"naming", "summariz", "summary", "title"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// Read hands each event of the session owner to visit, in order, and the bytes of each
// row to look, which may be nil. It returns the faults of rows. The bytes are valid until
// the next call.
func Read(ctx context.Context, r io.Reader, owner string, look func(row []byte), visit func(Event)) (found []Diagnostic, err error) {
	lines := jsonl.NewReader(r)
	for {
		if err := ctx.Err(); err != nil {
			return found, err
		}
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return found, err
		}
		if look != nil {
			look(line.Bytes)
		}
		e, counts, code := Parse(line, owner)
		if code != "" {
			found = append(found, Diagnostic{code, line.Number})
		}
		if counts {
			visit(e)
		}
	}
}
