package capture

import (
	"bytes"

	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
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
	name, ok := textOf(found[0])
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
		text, ok := textOf(raw)
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

// textOf returns the text of a JSON string, and false for any other value.
// Different strings have different texts.
func textOf(raw []byte) (string, bool) {
	if pyjson.KindOf(raw) != pyjson.String {
		return "", false
	}
	return string(pyjson.AppendText(nil, raw)), true
}
