package sessionstore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
)

// Message is one line of a transcript. It is immutable and keeps the exact
// bytes of the line; copying it costs a pointer. The zero Message is no
// message: it cannot be saved.
type Message struct{ m *message }

type message struct {
	raw []byte // the line without its LF; never changed, never handed out
	at  places
}

// role is a row's role as far as the store cares.
type role uint8

const (
	otherRole role = iota // any other, none, or not a string
	userRole
	assistantRole
	toolRole
	unstoredRole // system and developer: never stored
)

func (m *message) value() []byte { return pyjson.TrimSpace(m.raw) }

// line returns the bytes that a save writes: those of the line, without
// carriage returns between members, at which the older tools break lines.
func (m *message) line() []byte {
	row := bytes.TrimRight(m.raw, "\r")
	if bytes.IndexByte(row, '\r') < 0 {
		return m.raw
	}
	return bytes.ReplaceAll(row, []byte{'\r'}, []byte{' '})
}

// alien reports whether a line on disk is one that no save would write.
func (m Message) alien() bool {
	return m.m.at.role == unstoredRole || bytes.IndexByte(bytes.TrimRight(m.m.raw, "\r"), '\r') >= 0
}

func newMessage(raw []byte) Message { return Message{&message{raw: raw, at: placesIn(raw)}} }

// readMessage returns the message of a line that was read.
func readMessage(raw []byte) Message {
	m := newMessage(raw)
	m.m.at.read = true
	return m
}

// roleOf returns the role that the member role, nil where there is none, tells.
func roleOf(raw []byte) role {
	switch {
	case pyjson.KeyIs(raw, "user"):
		return userRole
	case pyjson.KeyIs(raw, "assistant"):
		return assistantRole
	case pyjson.KeyIs(raw, "tool"):
		return toolRole
	case pyjson.KeyIs(raw, "system"), pyjson.KeyIs(raw, "developer"):
		return unstoredRole
	}
	return otherRole
}

func lookup(row []byte, name string) ([]byte, bool) {
	if pyjson.KindOf(row) != pyjson.Object {
		return nil, false
	}
	return pyjson.Lookup(row, name)
}

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

// maxDepth is how deep a value may be nested to be readable everywhere.
const maxDepth = 500

// writeStyle is how new values are written: readable by every tool.
func writeStyle() pyjson.Style {
	return pyjson.Style{Finite: true, Replace: true, MaxDepth: maxDepth}
}

// NewMessage encodes v by the reference's writing rules. v is what
// encoding/json can encode (a struct, a map, …) or a json.RawMessage in
// Python's dialect. Members that are null, content_blocks, and all beyond 50
// levels vanish; thinking_block becomes thinking_text.
//
// The error Is [ErrUnstorable] and names the place when v is not an object
// with a non-empty string role, or holds what the Python tools could not read
// back: NaN, an infinity, a number that overflows to one, an integer of more
// than 4300 digits. Lone surrogates become U+FFFD.
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

// unstorable makes err, which tells why a value cannot be written, an
// ErrUnstorable.
func unstorable(what string, err error) error {
	return fmt.Errorf("%s: %w: %w", what, ErrUnstorable, err)
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
	row = append(row, `, "metadata": {"timestamp": "`+pytime.FormatMillis(at)+`"}}`...)
	return newMessage(row), nil
}

// Role returns the role, or "" where it is missing or no string.
func (m Message) Role() string {
	if m.m == nil {
		return ""
	}
	switch m.m.at.role {
	case userRole:
		return "user"
	case assistantRole:
		return "assistant"
	case toolRole:
		return "tool"
	}
	return m.text("role")
}

// Lookup returns a copy of the raw JSON of the last member of that name.
func (m Message) Lookup(name string) ([]byte, bool) {
	raw := m.lookup(name)
	return bytes.Clone(raw), raw != nil
}

// lookup returns the value of a member, nil where there is none.
func (m Message) lookup(name string) []byte { return pyjson.First(m.from(name)) }

// from is lookup with the rest of the row behind the value.
func (m Message) from(name string) []byte {
	if m.m == nil {
		return nil
	}
	return m.m.from(name)
}

// blocks returns the row from the content on if that is a list, and nil where it
// is known to be of text alone.
func (m Message) blocks() []byte {
	content := m.from("content")
	if pyjson.KindOf(content) != pyjson.Array || !m.m.at.blocks {
		return nil
	}
	return content
}

// text returns the string member name, or "".
func (m Message) text(name string) string { return textOf(m.lookup(name)) }

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

// AppendTo appends the exact line, without a line break, to dst.
func (m Message) AppendTo(dst []byte) []byte {
	if m.m == nil {
		return dst
	}
	return append(dst, m.m.raw...)
}

// MarshalJSON returns the line for encoding/json, which changes its spaces
// and escapes; only [Message.AppendTo] is exact. It fails on what encoding/json
// does not know, such as NaN.
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

// portable returns the message with the line breaks that only some readers
// know (U+2028, U+2029, U+0085) as escapes, unless its line was read.
func (m Message) portable() Message {
	if m.m.at.read || !bytes.Contains(m.m.raw, []byte("\xe2\x80")) && !bytes.Contains(m.m.raw, []byte("\xc2\x85")) {
		return m
	}
	row := bytes.ReplaceAll(m.m.raw, []byte("\u2028"), []byte(`\u2028`))
	row = bytes.ReplaceAll(row, []byte("\u2029"), []byte(`\u2029`))
	row = bytes.ReplaceAll(row, []byte("\u0085"), []byte(`\u0085`))
	return newMessage(row)
}
