package accept

import (
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// finding is a [Refusal] before it is known of which message.
type finding struct {
	reason Reason
	id     string
}

// examiner examines one message, and mends the faults within it.
type examiner struct {
	rules
	sent
	scale       Scaler
	edits       map[int]edit    // of its pictures, in their order
	seen        map[string]bool // ids of reasoning items before
	role        string
	line        []byte // as mended so far
	found       []finding
	hasThinking bool // it has a thinking_block that is sent
	reminder    bool // a text in it was not written by a person
}

func (e *examiner) report(why Reason, id string) { e.found = append(e.found, finding{why, id}) }

func (e *examiner) set(name string, value []byte) {
	e.line = pyjson.TrimSpace(pyjson.Splice(e.line, name, value))
}

// The texts for messages that would be empty. The user's is marked as written by a tool.
const (
	emptyAnswer   = "(This answer was empty.)"
	emptyQuestion = "<system-reminder>This message was empty.</system-reminder>"
)

func (e *examiner) filler() []byte {
	if e.role == "assistant" {
		return pyjson.Quote(emptyAnswer)
	}
	e.reminder = true
	return pyjson.Quote(emptyQuestion)
}

// isBlank reports whether the provider takes a text for none.
func (e *examiner) isBlank(raw []byte) bool {
	if len(raw) > 2 && ' ' < raw[1] && raw[1] < 0x7f && raw[1] != '\\' {
		return false // most texts need not be decoded
	}
	return e.blank(pyjson.Text(raw))
}

// sent is the part of one message that a provider gets.
type sent struct {
	side      side
	rest      side // the side of the message without its results
	calls     []sentCall
	results   []sentResult
	paused    bool     // it ends with a tool of the provider: the answer goes on in the next message
	endsWait  bool     // results behind it are not adjacent to the calls before it
	reasoning []string // ids of reasoning items
	pictures  []sentPicture
	disputed  []Reason // faults that some sources tell
	bytes     int      // of what is sent
}

// side is the side of a conversation that a message belongs to, as a provider sees it.
type side int

const (
	unsent    side = iota // it is not sent: instructions go another way
	injected              // the user's, but written by a tool
	prompt                // the user's
	answers               // the user's, results of calls
	assistant             // the assistant's
)

type sentCall struct {
	id     string // "" if it has none
	name   string
	places []place
}

// place is the place of a call: an element of tool_calls, or of content.
type place struct {
	listed bool
	at     int
}

type sentResult struct {
	id    string // "" if it has none
	block int    // the element of content, or -1 for the message as a whole
}

// value returns a copy of the JSON object that a message is.
func value(m sessionstore.Message) []byte { return pyjson.TrimSpace(m.AppendTo(nil)) }

// blockKind is a provider's view of a block.
type blockKind int

const (
	removed  blockKind = iota // it is removed
	hidden                    // it stays, but is not sent
	textual                   // it is a text, an image or the like
	thinking                  // it is thinking that is sent
	calling                   // it is a call
	resulting
)

// block is an element of content.
type block struct {
	kind blockKind
	raw  []byte
}

func arrayOf(list []block) []byte {
	parts := make([][]byte, len(list))
	for i, b := range list {
		parts[i] = b.raw
	}
	return pyjson.ArrayOf(parts)
}

func textBlock(text []byte) []byte {
	return append(append([]byte(`{"type": "text", "text": `), text...), '}')
}
