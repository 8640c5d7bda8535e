package sessionstore

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/internal/store/index"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
)

// Content returns the text of the message: content where it is a string, else
// its text blocks, joined by line breaks.
func (m Message) Content() string {
	raw := m.from("content")
	switch pyjson.KindOf(raw) {
	case pyjson.String:
		return pyjson.Text(pyjson.First(raw))
	case pyjson.Array:
		var texts []string
		for _, f := range pyjson.Pick(raw, "type", "text") {
			if pyjson.KeyIs(f[0], "text") {
				texts = append(texts, textOf(f[1]))
			}
		}
		return strings.Join(texts, "\n")
	}
	return ""
}

// Thinking returns the model's thoughts before it wrote the message, in the order of the
// line: the text of each thinking block of content, and then thinking_text, which the
// reference keeps beside a content that is a string. Both may hold the same text.
// Thoughts that a provider encrypted are left out. It returns nil when there are none.
func (m Message) Thinking() []string {
	var texts []string
	for _, f := range pyjson.Pick(m.from("content"), "type", "thinking") {
		if pyjson.KeyIs(f[0], "thinking") && pyjson.KindOf(f[1]) == pyjson.String {
			texts = append(texts, pyjson.Text(f[1]))
		}
	}
	if raw := m.lookup("thinking_text"); pyjson.KindOf(raw) == pyjson.String {
		texts = append(texts, pyjson.Text(raw))
	}
	return texts
}

// Timestamp returns the time when the message was made: the first of timestamp, ts and
// metadata.timestamp that the reference could read. A time without an offset counts as
// UTC.
func (m Message) Timestamp() (time.Time, bool) {
	for _, name := range [...]string{"timestamp", "ts"} {
		if t, ok := parseTime(m.text(name)); ok {
			return t, true
		}
	}
	return parseTime(stringMember(m.lookup("metadata"), "timestamp"))
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
	raw, _ := lookup(obj, name)
	return textOf(raw)
}

// ToolCall is a call that an assistant message makes.
type ToolCall struct {
	ID, Name  string
	Arguments []byte // JSON text, with U+FFFD for half of a surrogate pair; nil when there is none
}

// ToolCalls returns the calls that the message makes, in order: its
// tool_calls, in the form {"id", "function": {"name", "arguments"}} or
// {"id", "tool", "arguments"}, and then its tool_use blocks.
func (m Message) ToolCalls() []ToolCall {
	var calls []ToolCall
	for call, f := range pyjson.Pick(m.from("tool_calls"), "id", "tool", "function", "arguments") {
		if call[0] == '{' {
			calls = append(calls, listedCall(call, f))
		}
	}
	for _, f := range pyjson.Pick(m.blocks(), "type", "id", "name", "input") {
		if pyjson.KeyIs(f[0], "tool_use") {
			calls = append(calls, ToolCall{textOf(f[1]), textOf(f[2]), arguments(f[3])})
		}
	}
	return calls
}

// listedCall returns the call with the values of id, tool, function, arguments.
func listedCall(call []byte, f [4][]byte) ToolCall {
	c := ToolCall{ID: textOf(f[0]), Name: textOf(f[1])}
	if pyjson.KindOf(f[2]) == pyjson.Object {
		fn := pyjson.Values(f[2], "name", "arguments")
		c.Name = cmp.Or(c.Name, textOf(fn[0]))
		c.Arguments = arguments(fn[1])
	}
	if c.Name == "" {
		c.Name = stringMember(call, "name")
	}
	if c.Arguments == nil {
		c.Arguments = arguments(f[3])
	}
	return c
}

// arguments returns JSON text: the text inside raw where raw is a string, as providers
// send it, else raw itself. It returns nil if raw is nil. Half of a surrogate pair, which
// is no text, becomes U+FFFD.
func arguments(raw []byte) []byte {
	if raw == nil {
		return nil
	}
	text := bytes.Clone(raw)
	if pyjson.KindOf(raw) == pyjson.String {
		text = []byte(pyjson.Text(raw))
	}
	text, _ = pyjson.Paired(text)
	return text
}

// ToolCallID returns the id of the call that a tool message answers.
func (m Message) ToolCallID() string { return m.text("tool_call_id") }

// userCount is the number of messages of a cached transcript that a person wrote. The
// zero userCount is unknown: a transcript that is only read is not counted.
type userCount struct {
	known bool
	n     int
}

// plus returns the count of the transcript with rows at its end.
func (c userCount) plus(rows []Message) userCount {
	if c.known {
		c.n += countUsers(rows)
	}
	return c
}

// countUsers returns the number of rows that a person wrote.
func countUsers(rows []Message) (n int) {
	for _, m := range rows {
		if m.realUser() {
			n++
		}
	}
	return n
}

// realUser reports whether a person wrote the message; see [turns.ReadUser].
func (m Message) realUser() bool {
	if m.m == nil || m.m.places.role != userRole {
		return false
	}
	return turns.ReadUser(m.from("content"), m.from("tool_call_id") != nil, nil).Real
}

// seen is a message in the form that package turns reads.
type seen struct{ Message }

func (m seen) From(name string) []byte { return m.from(name) }
func (m seen) Blocks() []byte          { return m.blocks() }

// rowOf returns the part of m in its conversation.
func (m Message) rowOf() turns.Row {
	if m.m == nil {
		return turns.Row{}
	}
	return turns.Read(seen{m})
}

// beginsTurn reports whether m is a user message without a result of a tool.
func (m Message) beginsTurn() bool { return m.m.places.role == userRole && m.rowOf().Begins }

// isPrompt reports whether m is a prompt of a person; see [turns.IsPrompt].
func (m Message) isPrompt() bool {
	return m.m != nil && m.m.places.role == userRole && turns.IsPrompt(m.from("content"), m.from("metadata"), m.from("tool_call_id") != nil)
}

// addPlaces returns places, one behind each message so far, with the places behind the
// messages rows that follow.
func addPlaces(places []index.Place, rows []Message) []index.Place {
	var at index.Place
	if n := len(places); n > 0 {
		at = places[n-1]
	}
	places = slices.Grow(places, len(rows))
	for _, m := range rows {
		at.Pass(m.beginsTurn(), m.sum())
		places = append(places, at)
	}
	return places
}
