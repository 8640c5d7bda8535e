package sessionstore

import (
	"bytes"
	"math"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/index"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
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
func (m Message) text(name string) string { return pyjson.Text(m.lookup(name)) }

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
func (m Message) from(name string) []byte {
	if m.m == nil {
		return nil
	}
	if uint64(len(m.m.raw)) > math.MaxUint32 {
		return m.m.find(name)
	}
	at, places := uint32(0), &m.m.places
	switch name {
	case "content":
		at = places.content
	case "timestamp":
		at = places.timestamp
	case "metadata":
		at = places.metadata
	case "tool_calls":
		at = places.toolCalls
	case "tool_call_id":
		at = places.toolCallID
	default:
		if name == "ts" && !places.ts {
			return nil
		}
		return m.m.find(name)
	}
	if at == 0 {
		return nil
	}
	return m.m.raw[at:]
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
	return a == b || bytes.Equal(a.m.raw, b.m.raw) || bytes.Equal(pyjson.Canonical(a.m.value()), pyjson.Canonical(b.m.value()))
}

// userCount is the number of messages of a cached transcript that a person wrote. The
// zero userCount is unknown: a transcript that is only read is not counted.
type userCount struct {
	known bool
	n     int
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

func (m seen) Blocks() []byte { return m.blocks() }

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
