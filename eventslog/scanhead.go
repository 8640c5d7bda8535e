package eventslog

import (
	"bytes"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// maxKept is how much of a member's value is kept.
const maxKept = 64 << 10

// value is a member of the line's object as far as it was kept.
type value struct {
	kind       pyjson.Kind // Invalid: there is none
	raw        []byte      // of a scalar, at most maxKept bytes
	empty      bool        // a container without content
	start, end int64       // in the line
}

// head are the members that are kept.
type head struct {
	ts, timestamp, event, level, session, parent, data value
	inner                                              value // the data's session_id, in the newer dialect
}

// member returns the member that the key names, or nil.
func (h *head) member(key []byte) *value {
	name := key[1 : len(key)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name = pyjson.AppendText(nil, key)
	}
	switch string(name) {
	case "ts":
		return &h.ts
	case "timestamp":
		return &h.timestamp
	case "event":
		return &h.event
	case "lvl":
		return &h.level
	case "session_id":
		return &h.session
	case "parent_session_id":
		return &h.parent
	case "data":
		return &h.data
	}
	return nil
}

// truthy reports whether Python takes the value for true.
func (v *value) truthy() bool {
	switch v.kind {
	case pyjson.Object, pyjson.Array:
		return !v.empty
	case pyjson.Invalid:
		return false
	}
	return pyjson.Truthy(v.raw)
}

// text returns the text of a string, and "" for other values.
func (v *value) text() string {
	if v.kind != pyjson.String {
		return ""
	}
	if len(v.raw) == maxKept {
		return strings.ToValidUTF8(pyjson.Text(v.raw), "")
	}
	return pyjson.Text(v.raw)
}
