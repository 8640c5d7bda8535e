package sessionstore

import (
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
)

// Content returns the text of the message: content where it is a string, else
// its text blocks, joined by line breaks.
func (m Message) Content() string {
	raw, ok := m.lookup("content")
	if !ok {
		return ""
	}
	switch pyjson.KindOf(raw) {
	case pyjson.String:
		return pyjson.Text(raw)
	case pyjson.Array:
		var texts []string
		for block := range pyjson.Elements(raw) {
			if kind, ok := lookup(block, "type"); ok && pyjson.KeyIs(kind, "text") {
				texts = append(texts, stringMember(block, "text"))
			}
		}
		return strings.Join(texts, "\n")
	}
	return ""
}

// Timestamp returns when the message was made: the first of timestamp, ts and
// metadata.timestamp that the reference could read. A time without an offset
// counts as UTC.
func (m Message) Timestamp() (time.Time, bool) {
	for _, name := range [...]string{"timestamp", "ts"} {
		if t, ok := parseTime(m.text(name)); ok {
			return t, true
		}
	}
	md, ok := m.lookup("metadata")
	if !ok {
		return time.Time{}, false
	}
	return parseTime(stringMember(md, "timestamp"))
}

func parseTime(text string) (time.Time, bool) {
	if text == "" {
		return time.Time{}, false
	}
	t, _, err := pytime.Parse(text)
	return t, err == nil
}

// stringMember returns the string member name of obj, or "".
func stringMember(obj []byte, name string) string {
	raw, ok := lookup(obj, name)
	if !ok || pyjson.KindOf(raw) != pyjson.String {
		return ""
	}
	return pyjson.Text(raw)
}

// ToolCall is a call that an assistant message makes.
type ToolCall struct {
	ID, Name  string
	Arguments []byte // JSON text; nil when there is none
}

// ToolCalls returns the calls that the message makes, in order: its
// tool_calls, in the form {"id", "function": {"name", "arguments"}} or
// {"id", "tool", "arguments"}, and then its tool_use blocks.
func (m Message) ToolCalls() []ToolCall {
	var calls []ToolCall
	if raw, ok := m.lookup("tool_calls"); ok && pyjson.KindOf(raw) == pyjson.Array {
		for call := range pyjson.Elements(raw) {
			if pyjson.KindOf(call) == pyjson.Object {
				calls = append(calls, listedCall(call))
			}
		}
	}
	if raw, ok := m.lookup("content"); ok && pyjson.KindOf(raw) == pyjson.Array {
		for block := range pyjson.Elements(raw) {
			if kind, ok := lookup(block, "type"); ok && pyjson.KeyIs(kind, "tool_use") {
				calls = append(calls, ToolCall{stringMember(block, "id"), stringMember(block, "name"), arguments(block, "input")})
			}
		}
	}
	return calls
}

func listedCall(call []byte) ToolCall {
	c := ToolCall{ID: stringMember(call, "id"), Name: stringMember(call, "tool")}
	if fn, ok := pyjson.Lookup(call, "function"); ok && pyjson.KindOf(fn) == pyjson.Object {
		if c.Name == "" {
			c.Name = stringMember(fn, "name")
		}
		c.Arguments = arguments(fn, "arguments")
	}
	if c.Name == "" {
		c.Name = stringMember(call, "name")
	}
	if c.Arguments == nil {
		c.Arguments = arguments(call, "arguments")
	}
	return c
}

// arguments returns the JSON text of the member name: that inside it where it
// is a string, as providers send it, else its own.
func arguments(obj []byte, name string) []byte {
	raw, ok := pyjson.Lookup(obj, name)
	if !ok {
		return nil
	}
	if pyjson.KindOf(raw) == pyjson.String {
		return []byte(pyjson.Text(raw))
	}
	return append([]byte{}, raw...)
}

// ToolCallID returns the id of the call that a tool message answers.
func (m Message) ToolCallID() string { return m.text("tool_call_id") }
