// Package userrow tells what a message with the role user is: the words of a
// person, results of tools, or text that a tool wrote in the person's name. It
// looks at the JSON of the message alone, so that the store and the packages
// above it use one rule.
package userrow

import (
	"bytes"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// Row is what a user message is.
type Row struct {
	Begins bool // it begins a turn: it holds no result of a tool
	Real   bool // a person wrote it
	Blocks int  // blocks that were looked at; 0 where none could be a result or a reminder
}

// Read looks at a user message. content is the row from the value of its
// member content on, nil where it has none; answers tells that the row has a
// member tool_call_id. Each block that is the result of a tool is handed to
// result, which may be nil.
//
// A message is real when it has no tool_call_id, no text of it begins with
// <system-reminder>, and it is more than results of tools.
func Read(content []byte, answers bool, result func(block []byte)) Row {
	r := Row{Begins: true, Real: !answers}
	switch pyjson.KindOf(content) {
	case pyjson.String:
		r.Real = r.Real && !IsReminder(content)
		return r
	case pyjson.Array:
	default:
		return r
	}
	if !pyjson.MayHold(content, "tool_result") && !pyjson.MayHold(content, reminderTag) {
		return r
	}
	results := 0
	for block, member := range pyjson.Pick(content, "type", "text") {
		r.Blocks++
		if IsReminder(member[1]) {
			r.Real = false
		}
		if pyjson.KindOf(member[0]) != pyjson.String || !pyjson.KeyIs(member[0], "tool_result") {
			continue
		}
		results++
		if result != nil {
			result(block)
		}
	}
	r.Begins = results == 0
	r.Real = r.Real && (results == 0 || results < r.Blocks)
	return r
}

// reminderTag begins what tools write in the name of the user.
const reminderTag = "<system-reminder>"

// IsReminder reports whether raw begins with a JSON string that a tool put in
// in the name of the user. Anything may follow the string.
func IsReminder(raw []byte) bool {
	if pyjson.KindOf(raw) != pyjson.String {
		return false
	}
	start := pyjson.TrimSpace(raw[1:])
	if len(start) == 0 || start[0] != reminderTag[0] && start[0] != '\\' {
		return false // most messages need not be decoded
	}
	return bytes.HasPrefix(pyjson.TrimSpace([]byte(pyjson.Text(pyjson.First(raw)))), []byte(reminderTag))
}
