package sessionstore

import (
	"bytes"
	"math"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// Message is one line of a transcript. It is immutable and keeps the exact
// bytes of the line; copying it costs a pointer. The zero Message is no
// message: it cannot be saved.
//
// A Message may share its memory with all messages of the same read, as the messages of
// [Store.Load] do: a program that keeps one message keeps the whole transcript in memory.
// Keep its [Message.Clone] instead.
type Message struct{ m *message }

type message struct {
	raw    []byte // the line without its LF; never changed, never handed out to users
	places places
}

func (m *message) value() []byte { return pyjson.TrimSpace(m.raw) }

// line returns the bytes that a save writes: the bytes of the line without carriage
// returns between members, at which the older tools break lines.
func (m *message) line() []byte {
	row := bytes.TrimRight(m.raw, "\r")
	if bytes.IndexByte(row, '\r') < 0 {
		return m.raw
	}
	return bytes.ReplaceAll(row, []byte{'\r'}, []byte{' '})
}

// nonCanonical reports whether a save would write the line differently or drop it.
func (m Message) nonCanonical() bool {
	return m.m.places.role == unstoredRole || bytes.IndexByte(bytes.TrimRight(m.m.raw, "\r"), '\r') >= 0
}

// sum returns the hash of the line that a save writes of m. It is the same
// whether m was read or is about to be written.
func (m Message) sum() xxh3.Uint128 { return xxh3.Hash128(m.m.line()) }

func newMessage(raw []byte) Message { return Message{&message{raw: raw, places: placesIn(raw)}} }

// readMessage returns the message of a line that was read.
func readMessage(raw []byte) Message {
	m := newMessage(raw)
	m.m.places.read = true
	return m
}

func lookup(row []byte, name string) ([]byte, bool) {
	if pyjson.KindOf(row) != pyjson.Object {
		return nil, false
	}
	return pyjson.Lookup(row, name)
}

// Role returns the role, or "" where it is missing or no string.
func (m Message) Role() string {
	if m.m == nil {
		return ""
	}
	switch m.m.places.role {
	case userRole:
		return "user"
	case assistantRole:
		return "assistant"
	case toolRole:
		return "tool"
	}
	return m.text("role")
}

// Clone returns the message with memory of its own.
func (m Message) Clone() Message {
	if m.m == nil {
		return m
	}
	own := *m.m
	own.raw = bytes.Clone(own.raw)
	return Message{&own}
}

// Lookup returns a copy of the raw JSON of the last member of that name.
func (m Message) Lookup(name string) ([]byte, bool) {
	raw := m.lookup(name)
	return bytes.Clone(raw), raw != nil
}

// lookup returns the value of a member, nil where there is none.
func (m Message) lookup(name string) []byte { return pyjson.First(m.from(name)) }

// from returns the value of a member with the rest of the row behind it.
func (m Message) from(name string) []byte {
	if m.m == nil {
		return nil
	}
	return m.m.from(name)
}

// row returns the line without white space at its ends, nil for the zero Message.
func (m Message) row() []byte {
	if m.m == nil {
		return nil
	}
	return m.m.value()
}

// blocks returns the row from the content on if that is a list, and nil where it
// is known to be of text alone.
func (m Message) blocks() []byte {
	content := m.from("content")
	if pyjson.KindOf(content) != pyjson.Array || !m.m.places.blocks {
		return nil
	}
	return content
}

// text returns the string member name, or "".
func (m Message) text(name string) string { return textOf(m.lookup(name)) }

// AppendTo appends the exact line, without a line break, to dst.
func (m Message) AppendTo(dst []byte) []byte {
	if m.m == nil {
		return dst
	}
	return append(dst, m.m.raw...)
}

// portable returns the message with the line breaks that only some readers
// know (U+2028, U+2029, U+0085) as escapes, unless its line was read.
func (m Message) portable() Message {
	if m.m.places.read || !bytes.Contains(m.m.raw, []byte("\xe2\x80")) && !bytes.Contains(m.m.raw, []byte("\xc2\x85")) {
		return m
	}
	row := bytes.ReplaceAll(m.m.raw, []byte("\u2028"), []byte(`\u2028`))
	row = bytes.ReplaceAll(row, []byte("\u2029"), []byte(`\u2029`))
	row = bytes.ReplaceAll(row, []byte("\u0085"), []byte(`\u0085`))
	return newMessage(row)
}

// from returns the row from the value of a member on, nil where there is none.
func (m *message) from(name string) []byte {
	if uint64(len(m.raw)) > math.MaxUint32 {
		return m.find(name)
	}
	at := uint32(0)
	switch name {
	case "content":
		at = m.places.content
	case "timestamp":
		at = m.places.timestamp
	case "metadata":
		at = m.places.metadata
	case "tool_calls":
		at = m.places.toolCalls
	case "tool_call_id":
		at = m.places.toolCallID
	default:
		if name == "ts" && !m.places.ts {
			return nil
		}
		return m.find(name)
	}
	if at == 0 {
		return nil
	}
	return m.raw[at:]
}

// find does the same as from without places.
func (m *message) find(name string) []byte {
	row := m.value()
	if pyjson.KindOf(row) != pyjson.Object {
		return nil
	}
	value, _ := pyjson.Lookup(row, name)
	return value
}

// textOf returns the text of a string, and "" for any other value.
func textOf(raw []byte) string {
	if pyjson.KindOf(raw) != pyjson.String {
		return ""
	}
	return pyjson.Text(raw)
}

// rowsBeyond returns the messages after rows in whole, the messages of a damaged file. It
// returns none when whole does not begin with rows.
func rowsBeyond(whole, rows []Message) []Message {
	if len(whole) < len(rows) || !slices.EqualFunc(whole[:len(rows)], rows, sameValue) {
		return nil
	}
	var more []Message
	for _, m := range whole[len(rows):] {
		if m.isObject() { // a piece of a torn line may be another value
			more = append(more, m)
		}
	}
	return more
}

func (m Message) isObject() bool { return pyjson.KindOf(m.m.value()) == pyjson.Object }

// sameValue reports whether two messages are the same, however they are
// written.
func sameValue(a, b Message) bool {
	return a == b || bytes.Equal(a.m.raw, b.m.raw) || bytes.Equal(canonical(a), canonical(b))
}

// canonical returns the message without the white space and the escapes that
// it may have been written with.
func canonical(m Message) []byte {
	text, err := pyjson.Append(nil, m.m.value(), pyjson.Style{})
	if err != nil {
		return m.m.value()
	}
	return text
}
