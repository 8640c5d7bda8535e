package eventslog

import (
	"errors"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
)

// Event is an event to be written.
type Event struct {
	Name  string    // such as "llm:request"; an event without a name is refused
	Level string    // "": the member lvl of Data, or INFO; an error is ERROR unless it is DEBUG
	Time  time.Time // zero: the member timestamp of Data, or the current time
	// Data is a JSON object or null: a json.RawMessage is taken as it is,
	// everything else goes through encoding/json.
	Data any
}

var (
	errNotObject = errors.New("data is not an object")
	errNoName    = errors.New("it has no name: set Event.Name, such as \"llm:request\"")
)

// maxDepth leaves room for the containers that the envelope adds.
const maxDepth = pyjson.MaxDepth - 2

// promoted reports whether a member of the data goes beside the data, as in the reference's
// log.
func promoted(key []byte) bool {
	switch string(key[1 : len(key)-1]) {
	case "redaction", "status", "duration_ms", "module", "component", "error",
		"request_id", "span_id", "parent_span_id", "session_id":
		return true
	}
	return false
}

// appendLine appends the line of e: time, level, schema, name, the promoted
// members in the order of the data, and the other ones as data.
func (l *Log) appendLine(dst []byte, e Event) ([]byte, error) {
	if strings.TrimSpace(e.Name) == "" {
		return dst, errNoName
	}
	raw, err := pyjson.Encode(e.Data)
	if err != nil {
		return dst, err
	}
	if raw, err = pyjson.Append(nil, raw, pyjson.Style{MaxDepth: maxDepth}); err != nil {
		return dst, err
	}
	if k := pyjson.KindOf(raw); k != pyjson.Object && k != pyjson.Null {
		return dst, errNotObject
	}
	dst = append(dst, `{"ts": `...)
	dst = pyjson.AppendQuoted(dst, l.timeOf(e, raw), pyjson.Style{})
	dst = append(dst, `, "lvl": `...)
	dst = appendLevel(dst, e, raw)
	dst = append(dst, `, "schema": {"name": "amplifier.log", "ver": "1.0.0"}, "event": `...)
	dst = pyjson.AppendQuoted(dst, e.Name, pyjson.Style{})
	return append(l.appendMembers(dst, raw), '}', '\n'), nil
}

// appendMembers appends the members of the data. An event always has a session.
func (l *Log) appendMembers(dst, data []byte) []byte {
	id, _ := pyjson.Lookup(data, "session_id")
	if id == nil {
		dst = append(dst, `, "session_id": `...)
		dst = pyjson.AppendQuoted(dst, l.sessionID, pyjson.Style{})
	}
	var rest []byte
	for m := range pyjson.Members(data) {
		switch {
		case pyjson.KeyIs(m.Key, "timestamp"):
		case pyjson.KeyIs(m.Key, "session_id") && !pyjson.Truthy(m.Value):
			dst = append(dst, `, "session_id": `...)
			dst = pyjson.AppendQuoted(dst, l.sessionID, pyjson.Style{})
		case promoted(m.Key):
			dst = appendMember(dst, m)
		default:
			rest = appendMember(rest, m)
		}
	}
	if rest == nil {
		return dst
	}
	dst = append(dst, `, "data": {`...)
	dst = append(dst, rest[len(", "):]...)
	return append(dst, '}')
}

func appendMember(dst []byte, m pyjson.Member) []byte {
	dst = append(append(dst, ", "...), m.Key...)
	return append(append(dst, ": "...), m.Value...)
}

// timeOf returns the time of e as the reference writes it.
func (l *Log) timeOf(e Event, data []byte) string {
	if !e.Time.IsZero() {
		return formatTime(e.Time)
	}
	if at, ok := pyjson.Lookup(data, "timestamp"); ok && pyjson.KindOf(at) == pyjson.String && pyjson.Truthy(at) {
		return pyjson.Text(at)
	}
	return pytime.FormatMillis(l.now())
}

// formatTime writes t in UTC with 0, 3, 6 or 9 digits of the second, as the
// kernel does.
func formatTime(t time.Time) string {
	t = t.UTC()
	layout := "2006-01-02T15:04:05.000000000+00:00"
	switch ns := t.Nanosecond(); {
	case ns == 0:
		layout = "2006-01-02T15:04:05+00:00"
	case ns%1e6 == 0:
		layout = "2006-01-02T15:04:05.000+00:00"
	case ns%1e3 == 0:
		layout = "2006-01-02T15:04:05.000000+00:00"
	}
	return t.Format(layout)
}

// appendLevel appends the level as a JSON value.
func appendLevel(dst []byte, e Event, data []byte) []byte {
	level, ok := pyjson.Lookup(data, "lvl")
	switch {
	case e.Level != "":
		level = pyjson.Quote(e.Level)
	case !ok || !pyjson.Truthy(level):
		level = []byte(`"INFO"`)
	}
	if failed(e.Name, data) && string(level) != `"DEBUG"` {
		level = []byte(`"ERROR"`)
	}
	return append(dst, level...)
}

// failed reports whether an event reports an error.
func failed(name string, data []byte) bool {
	status, _ := pyjson.Lookup(data, "status")
	cause, ok := pyjson.Lookup(data, "error")
	return string(status) == `"error"` || ok && pyjson.Truthy(cause) || strings.Contains(name, "error")
}
