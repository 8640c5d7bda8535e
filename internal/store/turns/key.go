package turns

import (
	"bytes"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// Key is the id of a call, or of the call that a result answers. All calls
// whose id is missing, or is no string, have the same key.
type Key struct {
	ID    string
	Named bool // it has an id, which may be empty
}

// Unnamed reports whether there is no id.
func (k Key) Unnamed() bool { return !k.Named }

// KeyOf returns the key for the JSON value of an id.
func KeyOf(id []byte) (k Key) {
	k.ID, k.Named = IDOf(id)
	return k
}

// IDOf returns the text of an id, and false when the JSON value is no string.
// Different ids give different texts, even if they contain lone surrogates.
func IDOf(raw []byte) (id string, ok bool) {
	if pyjson.KindOf(raw) != pyjson.String {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	return string(pyjson.AppendText(nil, raw)), true
}

// Members returns the values of the members with those names, at most four. A
// value is nil when the member is missing. Of several members with one name the
// last counts.
func Members(raw []byte, names ...string) (values [4][]byte) {
	raw = pyjson.TrimSpace(raw)
	if pyjson.KindOf(raw) != pyjson.Object {
		return values
	}
	return pyjson.Values(raw, names...)
}

// IsBlock reports whether raw is a block of content of that type.
func IsBlock(raw []byte, kind string) bool {
	name := Members(raw, "type")[0]
	return pyjson.KindOf(name) == pyjson.String && pyjson.KeyIs(name, kind)
}

// ResultID returns the id of the call that a tool_result block answers, and
// false if it names none.
func ResultID(block []byte) (id string, ok bool) {
	f := Members(block, "tool_use_id", "tool_call_id")
	if f[0] != nil {
		return IDOf(f[0])
	}
	return IDOf(f[1])
}
