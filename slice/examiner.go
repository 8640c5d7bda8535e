package slice

import (
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// finding is a [Refusal] before it is known of which message.
type finding struct {
	reason Reason
	id     string
}

// examiner examines one message, and mends what is wrong within it.
type examiner struct {
	rules
	sent
	seen     map[string]bool // ids of reasoning items before
	role     string
	line     []byte // as mended so far
	found    []finding
	thinks   bool // it has a thinking_block that is sent
	reminder bool // a text in it is no person's
}

func (e *examiner) report(why Reason, id string) { e.found = append(e.found, finding{why, id}) }

func (e *examiner) set(name string, value []byte) {
	e.line = pyjson.TrimSpace(pyjson.Splice(e.line, name, value))
}

// What fills messages that would be empty. The user's is marked as no
// person's.
const (
	emptyAnswer   = "(This answer was empty.)"
	emptyQuestion = "<system-reminder>This message was empty.</system-reminder>"
)

func (e *examiner) filler() []byte {
	if e.role == "assistant" {
		return pyjson.AppendQuoted(nil, emptyAnswer, pyjson.Style{})
	}
	e.reminder = true
	return pyjson.AppendQuoted(nil, emptyQuestion, pyjson.Style{})
}

// isBlank reports whether the provider takes a text for none.
func (e *examiner) isBlank(raw []byte) bool {
	if len(raw) > 2 && ' ' < raw[1] && raw[1] < 0x7f && raw[1] != '\\' {
		return false // most texts need not be decoded
	}
	return e.blank(pyjson.Text(raw))
}
