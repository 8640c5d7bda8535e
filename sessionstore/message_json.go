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
