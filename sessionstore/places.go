package sessionstore

import (
	"bytes"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// places holds the offsets in a line at which values of a message begin, and its role, so
// that views of the message need not parse it again. Of several members of one name the
// last counts. The offset 0 means that there is no such member.
type places struct {
	content, timestamp, metadata, toolCalls, toolCallID uint32

	role   role
	ts     bool // there is a member ts
	blocks bool // content may be a list of more than text
	read   bool // the line was read and not made here: it is written as it is
}

// note takes a member of a row that begins at the offset before of the line.
func (p *places) note(row []byte, m *pyjson.Span, before int) {
	key := row[m.Key:m.KeyEnd]
	if !p.noteMember(key, row[m.Value:m.ValueEnd], before+m.Value, m.Typed) && bytes.IndexByte(key, '\\') >= 0 {
		p.noteMember([]byte(`"`+pyjson.Text(key)+`"`), row[m.Value:m.ValueEnd], before+m.Value, m.Typed)
	}
}

// noteMember notes the member called name, in quotes, and reports whether places has a
// field for it.
func (p *places) noteMember(name, value []byte, at int, typed bool) bool {
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

// offset returns the offset in raw at which a part of it begins.
func offset(raw, part []byte) int { return cap(raw) - cap(part) }

// role is a row's role as far as the store cares.
type role uint8

const (
	otherRole role = iota // any other, none, or not a string
	userRole
	assistantRole
	toolRole
	unstoredRole // system and developer: never stored
)

// roleOf returns the role in raw, the value of the member role, nil where there is none.
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
