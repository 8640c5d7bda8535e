package eventslog

import (
	"bytes"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

const bom = "\ufeff" // may be before an object in the newer dialect

// maxScalar is how much of a name, a level, a time or an id is looked at.
const maxScalar = 64 << 10

// head has the members of an event that are looked at, of several of one name the last: nil
// where there is none, and the beginning of a scalar that is too long.
type head struct{ ts, timestamp, event, level, session, data []byte }

// member returns the member that a key names, or nil.
func (h *head) member(key []byte) *[]byte {
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
	case "data":
		return &h.data
	}
	return nil
}

// events reads the lines of a log that are events.
type events struct {
	lines
	owner   string // the session's id
	spans   []pyjson.Span
	object  []byte // of the line that was parsed
	head    head   // of the object
	damaged int    // lines that were parsed and are no events, but for blank ones
}

// events returns events of nothing yet; see [lines.begin].
func (l *Log) events() *events {
	return &events{lines: lines{newer: l.newer, longest: l.longest}, owner: l.sessionID}
}

// parse reads the head of a line, and reports whether the line is an event that counts: an
// object that json.loads accepts after str.strip, or in the log of the newer tools an
// object of [events.isOfSession].
func (ls *events) parse(ln line) bool {
	dialect := pyjson.Tolerant
	if ls.newer {
		dialect = pyjson.Strict
		ls.object = pyjson.Trim(bytes.TrimPrefix(ln.text, []byte(bom)))
	} else {
		ls.object = pyjson.TrimSpace(ln.text)
	}
	if len(ls.object) == 0 && !ln.long {
		return false
	}
	ls.spans, ls.head = ls.spans[:0], head{}
	if ln.long || ls.object[0] != '{' || pyjson.CheckSpans(ls.object, dialect, &ls.spans) != nil {
		ls.damaged++
		return false
	}
	for _, s := range ls.spans {
		if m := ls.head.member(ls.object[s.Key:s.KeyEnd]); m != nil {
			*m = clip(ls.object[s.Value:s.ValueEnd])
		}
	}
	if ls.newer && !ls.isOfSession() {
		ls.damaged++
		return false
	}
	return true
}

// clip returns the part of a value that is looked at.
func clip(value []byte) []byte {
	if isContainer(value) {
		return value
	}
	return value[:min(len(value), maxScalar)]
}

// isOfSession reports whether the object counts in the log of the newer tools: it has a name,
// an object as its data or none, and the session's id or none.
func (ls *events) isOfSession() bool {
	h := &ls.head
	if text(h.event) == "" || h.data != nil && pyjson.KindOf(h.data) != pyjson.Object {
		return false
	}
	id, ok := ls.session()
	return ok && (id == "" || id == ls.owner)
}

// session returns the id of the event's session, which may be empty. It is false when the id
// is no string or two of them differ: in the newer dialect the data may have one, too.
func (ls *events) session() (id string, ok bool) {
	if !ls.newer {
		return text(ls.head.session), true
	}
	inner, _ := pyjson.Lookup(ls.head.data, "session_id")
	for _, v := range [...][]byte{ls.head.session, clip(inner)} {
		if v == nil || pyjson.KindOf(v) == pyjson.Null {
			continue
		}
		own := text(v)
		if pyjson.KindOf(v) != pyjson.String || id != "" && own != "" && id != own {
			return "", false
		}
		if own != "" {
			id = own
		}
	}
	return id, true
}

// time returns the member that has the event's time, nil where no member has one.
func (ls *events) time() []byte {
	first, second := ls.head.ts, ls.head.timestamp
	if ls.newer {
		first, second = second, first
	}
	for _, v := range [...][]byte{first, second} {
		if pyjson.Truthy(v) {
			return v
		}
	}
	return nil
}

// text returns the text of a string, and "" for any other value.
func text(value []byte) string {
	if len(value) == maxScalar {
		return strings.ToValidUTF8(pyjson.Text(value), "")
	}
	return pyjson.Text(value)
}

func isContainer(value []byte) bool {
	return len(value) > 0 && (value[0] == '{' || value[0] == '[')
}
