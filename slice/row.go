package slice

import (
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// row is what this package needs to know about a message.
type row struct {
	assistant bool
	begins    bool // a turn
	speaks    bool // it is a real user message
	acts      bool // it is an assistant message that may make calls
	blocks    bool // results are blocks of it, not the message as a whole
	other     bool // it has more blocks than those results
	calls     []call
	results   []string // ids of the calls that it answers
}

// call is a call of a tool. A call without an id is one that has no text as
// its id.
type call struct {
	key
	function string // its name where calls are completed
	tool     string // its name where they are repaired
}

// key tells calls apart. All calls without an id have one key.
type key struct {
	id    string
	named bool
}

// readRows looks into every message once.
func readRows(msgs []sessionstore.Message) []row {
	rows := make([]row, len(msgs))
	var buf []byte
	for i, m := range msgs {
		buf = m.AppendTo(buf[:0])
		rows[i] = readRow(m.Role(), buf)
	}
	return rows
}

func readRow(role string, line []byte) row {
	switch role {
	case "assistant":
		return readAssistant(line)
	case "user":
		return readUser(line)
	case "tool":
		if id, ok := idOf(members(line, "tool_call_id")[0]); ok {
			return row{results: []string{id}}
		}
	}
	return row{}
}

func readAssistant(line []byte) row {
	found := members(line, "tool_calls", "content")
	r := row{assistant: true, acts: found[0] != nil}
	for raw := range pyjson.Elements(found[0]) {
		if pyjson.KindOf(raw) == pyjson.Object {
			r.calls = append(r.calls, listedCall(raw))
		}
	}
	listed := make(map[key]int, len(r.calls))
	for i, c := range r.calls {
		listed[c.key] = i
	}
	for block := range pyjson.Elements(found[1]) {
		if !isBlock(block, "tool_use") {
			continue
		}
		r.acts = true
		f := members(block, "id", "name")
		c := call{function: textOf(f[1]), tool: textOf(f[1])}
		c.id, c.named = idOf(f[0])
		if at, ok := listed[c.key]; ok && c.named {
			if c.function != "" {
				r.calls[at].function = c.function
			}
			continue // one call in both forms
		}
		r.calls = append(r.calls, c)
	}
	return r
}

func listedCall(raw []byte) call {
	f := members(raw, "id", "tool", "function", "name")
	function := textOf(members(f[2], "name")[0])
	c := call{function: function, tool: function}
	c.id, c.named = idOf(f[0])
	if c.function == "" {
		c.function = textOf(f[3])
	}
	if f[1] != nil {
		c.tool = textOf(f[1])
	}
	return c
}

func readUser(line []byte) row {
	found := members(line, "content", "tool_call_id")
	r := row{blocks: true, speaks: found[1] == nil}
	if pyjson.KindOf(found[0]) == pyjson.String {
		r.begins, r.speaks = true, r.speaks && !isReminder(found[0])
		return r
	}
	blocks, results := 0, 0
	for block := range pyjson.Elements(found[0]) {
		blocks++
		if isReminder(members(block, "text")[0]) {
			r.speaks = false
		}
		if !isBlock(block, "tool_result") {
			continue
		}
		results++
		if id, ok := resultID(block); ok {
			r.results = append(r.results, id)
		}
	}
	r.other = len(r.results) < blocks
	r.begins = results == 0
	r.speaks = r.speaks && (results == 0 || results < blocks)
	return r
}

// resultID returns the id of the call that a tool_result answers.
func resultID(block []byte) (id string, ok bool) {
	f := members(block, "tool_use_id", "tool_call_id")
	if f[0] != nil {
		return idOf(f[0])
	}
	return idOf(f[1])
}

// isReminder reports whether text was put in by a tool in the name of the user.
func isReminder(raw []byte) bool {
	const tag = "<system-reminder>"
	if pyjson.KindOf(raw) != pyjson.String {
		return false
	}
	start := pyjson.TrimSpace(raw[1:])
	if len(start) == 0 || start[0] != tag[0] && start[0] != '\\' {
		return false // most messages need not be decoded
	}
	text := pyjson.TrimSpace([]byte(pyjson.Text(raw)))
	return len(text) >= len(tag) && string(text[:len(tag)]) == tag
}

func isBlock(raw []byte, kind string) bool {
	name := members(raw, "type")[0]
	return pyjson.KindOf(name) == pyjson.String && pyjson.KeyIs(name, kind)
}

// idOf returns an id, and false for what is no text. Different ids stay
// different, also with lone surrogates.
func idOf(raw []byte) (id string, ok bool) {
	if pyjson.KindOf(raw) != pyjson.String {
		return "", false
	}
	return string(pyjson.AppendText(nil, raw)), true
}

func textOf(raw []byte) string {
	text, _ := idOf(raw)
	return text
}

// members returns the values of the members of those names, at most four, nil
// for one that is not there, and of several of one name the last.
func members(raw []byte, names ...string) (values [4][]byte) {
	raw = pyjson.TrimSpace(raw)
	if pyjson.KindOf(raw) != pyjson.Object {
		return values
	}
	for m := range pyjson.Members(raw) {
		for i, name := range names {
			if pyjson.KeyIs(m.Key, name) {
				values[i] = m.Value
			}
		}
	}
	return values
}
