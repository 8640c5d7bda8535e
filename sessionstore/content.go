package sessionstore

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
)

// Content returns the text of the message: content where it is a string, else
// its text blocks, joined by line breaks.
func (m Message) Content() string {
	text, _ := m.contentHead(math.MaxInt)
	return text
}

// contentHead returns the beginning of the content, of which it decodes no more than most
// bytes, and whether that is all.
func (m Message) contentHead(most int) (text string, whole bool) {
	raw := m.from("content")
	switch pyjson.KindOf(raw) {
	case pyjson.String:
		return pyjson.Head(pyjson.First(raw), most)
	case pyjson.Array:
		var texts []string
		for _, f := range pyjson.Pick(raw, "type", "text") {
			if !pyjson.KeyIs(f[0], "text") {
				continue
			}
			text, whole := pyjson.Head(f[1], most)
			texts = append(texts, text)
			if most -= min(most, len(f[1])); !whole {
				return strings.Join(texts, "\n"), false
			}
		}
		return strings.Join(texts, "\n"), true
	}
	return "", true
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
	return pyjson.Text(raw)
}

// ToolCall is a call that an assistant message makes.
type ToolCall struct {
	ID, Name  string
	Arguments []byte // JSON text, with U+FFFD for half of a surrogate pair; nil when there is none
}

// ToolCalls returns the calls that the message makes, in order: its
// tool_calls, in the form {"id", "function": {"name", "arguments"}} or
// {"id", "tool", "arguments"}, and then its tool_use blocks, but for those with the id of
// one of tool_calls: these are the same call.
func (m Message) ToolCalls() []ToolCall {
	var calls []ToolCall
	for call, f := range pyjson.Pick(m.from("tool_calls"), "id", "tool", "function", "arguments") {
		if call[0] == '{' {
			calls = append(calls, listedCall(call, f))
		}
	}
	listed := calls
	for _, f := range pyjson.Pick(m.blocks(), "type", "id", "name", "input") {
		id := pyjson.Text(f[1])
		if pyjson.KeyIs(f[0], "tool_use") && (id == "" || !slices.ContainsFunc(listed, func(c ToolCall) bool { return c.ID == id })) {
			calls = append(calls, ToolCall{id, pyjson.Text(f[2]), arguments(f[3])})
		}
	}
	return calls
}

// listedCall returns the call with the values of id, tool, function, arguments.
func listedCall(call []byte, f [4][]byte) ToolCall {
	c := ToolCall{ID: pyjson.Text(f[0]), Name: pyjson.Text(f[1])}
	if pyjson.KindOf(f[2]) == pyjson.Object {
		fn := pyjson.Values(f[2], "name", "arguments")
		c.Name = cmp.Or(c.Name, pyjson.Text(fn[0]))
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

// ParseMessage keeps a line that was read from a transcript exactly as it is,
// but for the line break at its end. It must hold one JSON object in Python's
// dialect and no other line break. The bytes are copied.
func ParseMessage(line []byte) (Message, error) {
	line = bytes.TrimRight(line, "\r\n")
	if bytes.ContainsAny(line, "\r\n") {
		return Message{}, fmt.Errorf("parse message: %w: a line break inside", ErrUnstorable)
	}
	row := pyjson.TrimSpace(line)
	if err := pyjson.Check(row, pyjson.Tolerant); err != nil {
		return Message{}, fmt.Errorf("parse message: %w", err)
	}
	if pyjson.KindOf(row) != pyjson.Object {
		return Message{}, fmt.Errorf("parse message: %w: not a JSON object", ErrUnstorable)
	}
	return readMessage(bytes.Clone(line)), nil
}

// maxDepth is the greatest depth of nesting that all tools can read.
const maxDepth = 500

// writeStyle is the style of new values, which every tool can read.
func writeStyle() pyjson.Style {
	return pyjson.Style{Finite: true, Replace: true, MaxDepth: maxDepth}
}

// NewMessage encodes v by the reference's writing rules. v is any value that
// encoding/json can encode (a struct, a map, …) or a json.RawMessage in Python's dialect.
// Members that are null, content_blocks, and everything beyond 50 levels vanish;
// thinking_block becomes thinking_text.
//
// The error Is [ErrUnstorable] and names the place when v is not an object with a
// non-empty string role, or holds a value that the Python tools could not read back: NaN,
// an infinity, a number that overflows to one, an integer of more than 4300 digits. Lone
// surrogates become U+FFFD.
func NewMessage(v any) (Message, error) {
	raw, err := pyjson.Encode(v)
	if err != nil {
		return Message{}, unstorable("new message", err)
	}
	if pyjson.KindOf(pyjson.Trim(raw)) != pyjson.Object {
		return Message{}, fmt.Errorf("new message: %w: not a JSON object", ErrUnstorable)
	}
	row, err := pyjson.AppendMessage(nil, raw, writeStyle())
	if err != nil {
		return Message{}, unstorable("new message", err)
	}
	if role, ok := pyjson.Lookup(row, "role"); !ok || pyjson.KindOf(role) != pyjson.String || len(role) == len(`""`) {
		return Message{}, fmt.Errorf("new message: %w: role is not a non-empty string", ErrUnstorable)
	}
	return newMessage(row), nil
}

// Text returns the message {"role", "content", "metadata": {"timestamp"}},
// the form of the reference's context module. An empty role is an error.
func Text(role, content string, at time.Time) (Message, error) {
	if role == "" {
		return Message{}, fmt.Errorf("new message: %w: role is empty", ErrUnstorable)
	}
	s := writeStyle()
	row := pyjson.AppendQuoted([]byte(`{"role": `), role, s)
	row = pyjson.AppendQuoted(append(row, `, "content": `...), content, s)
	return newMessage(appendTime(row, at)), nil
}

// appendTime ends a message with the time when it was made.
func appendTime(row []byte, at time.Time) []byte {
	return append(row, `, "metadata": {"timestamp": "`+pytime.FormatMillis(at)+`"}}`...)
}

// With returns the message with the member name set to v, encoded by the
// rules of [NewMessage]; a v that those rules drop, such as nil, removes it.
// All other members keep their bytes.
func (m Message) With(name string, v any) (Message, error) {
	if m.m == nil || pyjson.KindOf(m.m.value()) != pyjson.Object {
		return Message{}, fmt.Errorf("set member of message: %w: not a JSON object", ErrUnstorable)
	}
	raw, err := pyjson.Encode(v)
	if err != nil {
		return Message{}, unstorable("set member of message", err)
	}
	one := append(append(pyjson.AppendQuoted([]byte{'{'}, name, pyjson.Style{}), ':'), raw...)
	one, err = pyjson.AppendMessage(nil, append(one, '}'), writeStyle())
	if err != nil {
		return Message{}, unstorable("set member of message", err)
	}
	if value, ok := pyjson.Lookup(one, name); ok {
		return newMessage(pyjson.Splice(m.m.value(), name, value)), nil
	}
	return newMessage(pyjson.Remove(m.m.value(), name)), nil
}

// MarshalJSON returns the line for encoding/json, which changes its spaces and escapes;
// only [Message.AppendTo] is exact. It fails on values that encoding/json does not know,
// such as NaN.
func (m Message) MarshalJSON() ([]byte, error) {
	if m.m == nil {
		return []byte("null"), nil
	}
	row := m.m.value()
	if !json.Valid(row) {
		return nil, errors.New("message holds what JSON cannot: NaN or an infinity")
	}
	return bytes.Clone(row), nil
}

// UnmarshalJSON reads a message as [ParseMessage] does. Line breaks between
// members are taken out.
func (m *Message) UnmarshalJSON(b []byte) error {
	if bytes.ContainsAny(b, "\r\n") && pyjson.Check(b, pyjson.Tolerant) == nil {
		flat, err := pyjson.Append(nil, b, pyjson.Style{})
		if err != nil {
			return err
		}
		b = flat
	}
	parsed, err := ParseMessage(b)
	if err == nil {
		*m = parsed
	}
	return err
}

// ToolCallMessage returns the assistant's message {"role", "content",
// "tool_calls": [{"id", "tool", "arguments"}], "metadata": {"timestamp"}}, the
// form of the reference's orchestrators. text may be empty, and so may the
// arguments of a call: they are {} then. [Message.ToolCalls] reads the calls
// back. Each call needs a [ToolResult] behind the message.
//
// The error Is [ErrUnstorable] and names the call when there is none, when it has no id
// or name, when another call has the same id, or when its arguments are not an object
// that [NewMessage] can store.
func ToolCallMessage(text string, at time.Time, calls ...ToolCall) (Message, error) {
	if len(calls) == 0 {
		return Message{}, fmt.Errorf("new tool call message: %w: no calls", ErrUnstorable)
	}
	row := pyjson.AppendQuoted([]byte(`{"role": "assistant", "content": `), text, writeStyle())
	row = append(row, `, "tool_calls": [`...)
	seen := map[string]bool{}
	for i, c := range calls {
		err := c.check()
		if err == nil && seen[c.ID] {
			err = fmt.Errorf("%w: its id stands twice", ErrUnstorable)
		}
		if err != nil {
			return Message{}, fmt.Errorf("new tool call message: call %d: %w", i+1, err)
		}
		if i > 0 {
			row = append(row, ", "...)
		}
		seen[c.ID], row = true, c.append(row)
	}
	return NewMessage(json.RawMessage(appendTime(append(row, ']'), at)))
}

// check returns an error if the call cannot be stored.
func (c ToolCall) check() error {
	switch {
	case c.ID == "":
		return fmt.Errorf("%w: its id is empty", ErrUnstorable)
	case c.Name == "":
		return fmt.Errorf("%w: its tool has no name", ErrUnstorable)
	case len(c.Arguments) == 0:
		return nil
	}
	if err := pyjson.Check(c.Arguments, pyjson.Tolerant); err != nil {
		return unstorable("its arguments", err)
	}
	if pyjson.KindOf(pyjson.Trim(c.Arguments)) != pyjson.Object {
		return fmt.Errorf("%w: its arguments are not a JSON object", ErrUnstorable)
	}
	return nil
}

// append appends the call as an entry of tool_calls.
func (c ToolCall) append(row []byte) []byte {
	row = pyjson.AppendQuoted(append(row, `{"id": `...), c.ID, writeStyle())
	row = pyjson.AppendQuoted(append(row, `, "tool": `...), c.Name, writeStyle())
	row = append(row, `, "arguments": `...)
	if len(c.Arguments) == 0 {
		return append(row, "{}}"...)
	}
	return append(append(row, c.Arguments...), '}')
}

// ToolResult returns the message {"role", "name", "tool_call_id", "content", "metadata":
// {"timestamp"}}: the answer of the tool of that name to the call with that id. An empty
// id or name is an error that Is [ErrUnstorable].
func ToolResult(callID, name, content string, at time.Time) (Message, error) {
	if callID == "" || name == "" {
		return Message{}, fmt.Errorf("new tool result: %w: the call has no id or the tool no name", ErrUnstorable)
	}
	s := writeStyle()
	row := pyjson.AppendQuoted([]byte(`{"role": "tool", "name": `), name, s)
	row = pyjson.AppendQuoted(append(row, `, "tool_call_id": `...), callID, s)
	row = pyjson.AppendQuoted(append(row, `, "content": `...), content, s)
	return newMessage(appendTime(row, at)), nil
}
