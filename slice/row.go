package slice

import (
	"bytes"
	"runtime"
	"sync"

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
	calls     []key
	results   []string // ids of the calls that it answers
}

// key tells calls apart. A call without an id is one that has no text as its
// id; all of those have one key.
type key struct {
	id    string
	named bool
}

// share is how many messages are worth another goroutine.
const share = 2048

// readRows looks into every message once.
func readRows(msgs []sessionstore.Message) []row {
	rows := make([]row, len(msgs))
	workers := max(1, min(runtime.GOMAXPROCS(0), len(msgs)/share))
	part := (len(msgs) + workers - 1) / workers
	var group sync.WaitGroup
	for from := part; from < len(msgs); from += part {
		to := min(from+part, len(msgs))
		group.Go(func() { readInto(rows[from:to], msgs[from:to]) })
	}
	readInto(rows[:min(part, len(rows))], msgs)
	group.Wait()
	return rows
}

func readInto(rows []row, msgs []sessionstore.Message) {
	for i := range rows {
		rows[i] = readRow(msgs[i])
	}
}

// readRow returns what a message is; it keeps none of its bytes.
func readRow(m sessionstore.Message) row {
	switch m.Role() {
	case "assistant":
		return readAssistant(m)
	case "user":
		return readUser(m)
	case "tool":
		if id, ok := idOf(pyjson.First(from(m, "tool_call_id"))); ok {
			return row{results: []string{id}}
		}
	}
	return row{}
}

func readAssistant(m sessionstore.Message) row {
	listed := from(m, "tool_calls")
	r := row{assistant: true, acts: listed != nil}
	for raw, values := range pyjson.Pick(listed, "id") {
		if pyjson.KindOf(raw) == pyjson.Object {
			r.calls = append(r.calls, keyOf(values[0]))
		}
	}
	content := sessionstore.Inside{}.Blocks(m)
	if content == nil {
		return r
	}
	known := setOf(r.calls)
	for block := range pyjson.Elements(content) {
		if !isBlock(block, "tool_use") {
			continue
		}
		r.acts = true
		if k := keyOf(members(block, "id")[0]); !k.named || !known[k] { // else one call in both forms
			r.calls = append(r.calls, k)
		}
	}
	return r
}

func readUser(m sessionstore.Message) row {
	content := from(m, "content")
	r := row{blocks: true, begins: true, speaks: from(m, "tool_call_id") == nil}
	switch pyjson.KindOf(content) {
	case pyjson.String:
		r.speaks = r.speaks && !isReminder(content)
		return r
	case pyjson.Array:
	default:
		return r
	}
	if !pyjson.MayHold(content, "tool_result") && !pyjson.MayHold(content, reminderTag) {
		return r
	}
	blocks, results := 0, 0
	for block := range pyjson.Elements(content) {
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

// reminderTag begins what tools write in the name of the user.
const reminderTag = "<system-reminder>"

// isReminder reports whether text, with whatever follows it, was put in by a
// tool in the name of the user.
func isReminder(raw []byte) bool {
	if pyjson.KindOf(raw) != pyjson.String {
		return false
	}
	start := pyjson.TrimSpace(raw[1:])
	if len(start) == 0 || start[0] != reminderTag[0] && start[0] != '\\' {
		return false // most messages need not be decoded
	}
	return bytes.HasPrefix(pyjson.TrimSpace([]byte(pyjson.Text(pyjson.First(raw)))), []byte(reminderTag))
}

func isBlock(raw []byte, kind string) bool {
	name := members(raw, "type")[0]
	return pyjson.KindOf(name) == pyjson.String && pyjson.KeyIs(name, kind)
}

func keyOf(id []byte) (k key) {
	k.id, k.named = idOf(id)
	return k
}

// idOf returns an id, and false for what is no text. Different ids stay
// different, also with lone surrogates.
func idOf(raw []byte) (id string, ok bool) {
	if pyjson.KindOf(raw) != pyjson.String {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	return string(pyjson.AppendText(nil, raw)), true
}

func textOf(raw []byte) string {
	text, _ := idOf(raw)
	return text
}

// from returns a message from the value of a member on, nil where there is none.
func from(m sessionstore.Message, name string) []byte { return sessionstore.Inside{}.From(m, name) }

// members returns the values of the members of those names, at most four, nil
// for one that is not there, and of several of one name the last.
func members(raw []byte, names ...string) (values [4][]byte) {
	raw = pyjson.TrimSpace(raw)
	if pyjson.KindOf(raw) != pyjson.Object {
		return values
	}
	return pyjson.Values(raw, names...)
}
