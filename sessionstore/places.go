package sessionstore

import (
	"bytes"
	"math"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// places is what the views of a message need to know of its row: the role, and
// where in the line values begin, of several members of one name the last. No
// value begins at 0, which stands for a member that is not there.
type places struct {
	content, timestamp, metadata, toolCalls, toolCallID uint32

	role   role
	ts     bool // there is a member ts
	blocks bool // content may be a list of more than text
	read   bool // the line was read somewhere: it is written as it is
}

// note takes a member of a row that begins at the offset before of the line.
func (p *places) note(row []byte, m *pyjson.Span, before int) {
	key := row[m.Key:m.KeyEnd]
	if !p.named(key, row[m.Value:m.ValueEnd], before+m.Value, m.Typed) && bytes.IndexByte(key, '\\') >= 0 {
		p.named([]byte(`"`+pyjson.Text(key)+`"`), row[m.Value:m.ValueEnd], before+m.Value, m.Typed)
	}
}

// named is note of the member called name, in quotes, and reports whether it
// is one that matters.
func (p *places) named(name, value []byte, at int, typed bool) bool {
	switch string(name) {
	case `"role"`:
		p.role = roleOf(value)
	case `"content"`:
		p.content, p.blocks = uint32(at), typed
	case `"timestamp"`:
		p.timestamp = uint32(at)
	case `"ts"`:
		p.ts = true
	case `"metadata"`:
		p.metadata = uint32(at)
	case `"tool_calls"`:
		p.toolCalls = uint32(at)
	case `"tool_call_id"`:
		p.toolCallID = uint32(at)
	default:
		return false
	}
	return true
}

// placesIn returns the places in a line, which is sound.
func placesIn(raw []byte) (p places) {
	row := pyjson.TrimSpace(raw)
	if pyjson.KindOf(row) != pyjson.Object {
		return p
	}
	for m := range pyjson.Members(row) {
		span := pyjson.Span{Key: m.KeyAt, KeyEnd: m.KeyAt + len(m.Key), Value: m.ValueAt, ValueEnd: m.ValueAt + len(m.Value), Typed: true}
		p.note(row, &span, offset(raw, row))
	}
	return p
}

// offset returns where in raw a part of it begins.
func offset(raw, part []byte) int { return cap(raw) - cap(part) }

// from returns the row from the value of a member on, nil where there is none.
func (m *message) from(name string) []byte {
	if uint64(len(m.raw)) > math.MaxUint32 {
		return m.find(name)
	}
	at := uint32(0)
	switch name {
	case "content":
		at = m.at.content
	case "timestamp":
		at = m.at.timestamp
	case "metadata":
		at = m.at.metadata
	case "tool_calls":
		at = m.at.toolCalls
	case "tool_call_id":
		at = m.at.toolCallID
	default:
		if name == "ts" && !m.at.ts {
			return nil
		}
		return m.find(name)
	}
	if at == 0 {
		return nil
	}
	return m.raw[at:]
}

// find is from without the help of places.
func (m *message) find(name string) []byte {
	row := m.value()
	if pyjson.KindOf(row) != pyjson.Object {
		return nil
	}
	value, _ := pyjson.Lookup(row, name)
	return value
}
