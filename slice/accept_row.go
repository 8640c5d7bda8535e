package slice

import (
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// sent is what a provider gets of a message.
type sent struct {
	who       side
	rest      side // whose it is without its results
	calls     []sentCall
	results   []sentResult
	closes    bool     // results behind it do not stand right behind the calls before it
	reasoning []string // ids of reasoning items
}

// side is whose a message is to a provider.
type side int

const (
	nobody  side = iota // it is not sent: instructions go another way
	aside               // the user's, but written by a tool
	person              // the user's
	answers             // the user's, results of calls
	model               // the assistant's
)

type sentCall struct {
	id     string // "" if it has none
	name   string
	places []place
}

// place is where a call stands: an element of tool_calls, or of content.
type place struct {
	listed bool
	at     int
}

type sentResult struct {
	id    string // "" if it has none
	block int    // the element of content, or -1 for the message as a whole
}

// finding is a [Refusal] before it is known of which message.
type finding struct {
	reason Reason
	id     string
}

// examiner looks at one message, and mends what is wrong within it.
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

// examine tells what is sent of a message, what is refused of it on its own,
// and its line without that. seen are the reasoning items sent before.
func (r rules) examine(m sessionstore.Message, line []byte, seen map[string]bool) (s sent, found []finding, mended []byte) {
	e := &examiner{rules: r, seen: seen, role: m.Role(), line: pyjson.TrimSpace(line)}
	switch e.role {
	case "system", "developer":
		return sent{}, nil, nil
	case "tool":
		id, _ := idOf(members(e.line, "tool_call_id")[0])
		return sent{who: answers, results: []sentResult{{id, -1}}}, nil, nil
	case "assistant":
		e.who = model
		e.closes = true
		e.listedCalls()
		e.thinkingMember()
		e.content()
	case "user":
		e.user()
	default:
		e.report(UnknownRole, "")
		e.role = "user"
		e.set("role", []byte(`"user"`))
		e.user()
	}
	return e.sent, e.found, e.line
}

func (e *examiner) user() {
	e.content()
	pure := len(e.results) > 0 && !e.closes
	e.closes = !pure
	switch {
	case pure:
		e.rest = nobody
	case e.reminder || members(e.line, "tool_call_id")[0] != nil:
		e.rest = aside
	default:
		e.rest = person
	}
	e.who = e.rest
	if len(e.results) > 0 {
		e.who = answers
	}
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

// content looks at the member content.
func (e *examiner) content() {
	raw := members(e.line, "content")[0]
	switch pyjson.KindOf(raw) {
	case pyjson.Array:
		e.blocks(raw)
	case pyjson.String, pyjson.Null, pyjson.Invalid:
		e.text(raw)
	case pyjson.Object:
		e.report(BadContent, "")
		e.blocks(append(append([]byte{'['}, raw...), ']'))
	default:
		e.report(BadContent, "")
		raw = pyjson.AppendQuoted(nil, string(raw), pyjson.Style{})
		e.set("content", raw)
		e.text(raw)
	}
}

// text looks at content that is a text, or is missing.
func (e *examiner) text(raw []byte) {
	is := pyjson.KindOf(raw) == pyjson.String
	e.reminder = is && isReminder(raw)
	switch {
	case is && !e.isBlank(raw):
	case e.role != "assistant":
		e.report(EmptyContent, "")
		e.set("content", e.filler())
	case len(e.calls) > 0:
		if is && len(raw) > len(`""`) {
			e.report(BlankText, "")
			e.set("content", []byte(`""`))
		}
	case e.thinks:
		e.report(ThinkingLast, "")
		e.set("content", e.filler())
	case !e.mute:
		e.report(EmptyContent, "")
		e.set("content", e.filler())
	}
}

// isBlank reports whether a text is as good as none.
func (e *examiner) isBlank(raw []byte) bool {
	if len(raw) > 2 && ' ' < raw[1] && raw[1] < 0x7f && raw[1] != '\\' {
		return false // most texts need not be decoded
	}
	return e.blank(pyjson.Text(raw))
}
