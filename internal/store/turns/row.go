package turns

import (
	"bytes"
	"math"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// Message is a message in the form that [Read] needs.
type Message interface {
	// Role returns the role, "" where it is no string.
	Role() string

	// From returns the row from the value of the member name on, nil where
	// there is no such member.
	From(name string) []byte

	// Blocks is From for the member content when that is a list. It may be nil
	// when content is known to hold text blocks alone.
	Blocks() []byte
}

// Row holds the facts about a message.
type Row struct {
	Assistant bool
	Begins    bool  // it begins a turn
	Real      bool  // a person wrote it
	Acts      bool  // it is an assistant message that may make calls
	Blocks    bool  // its results are blocks of content, not the message as a whole
	Other     bool  // it has blocks other than those results
	IDs       []Key // of the calls that it makes if it is the assistant's, else of the calls that it answers
}

// Calls returns the keys of the calls that the message makes.
func (r Row) Calls() []Key {
	if r.Assistant {
		return r.IDs
	}
	return nil
}

// Results returns the keys of the calls that the message answers. All of them
// have an id.
func (r Row) Results() []Key {
	if r.Assistant {
		return nil
	}
	return r.IDs
}

// Asks reports whether the message is a real user message without results.
// The turn before it must be complete.
func (r Row) Asks() bool { return r.Real && r.Begins }

// MakesAny reports whether the message makes a call with one of those ids.
func (r Row) MakesAny(ids map[string]bool) bool {
	return slices.ContainsFunc(r.Calls(), func(k Key) bool { return k.Named && ids[k.ID] })
}

// Read returns the row of one message. The row keeps none of its bytes.
func Read(m Message) Row {
	switch m.Role() {
	case "assistant":
		return readAssistant(m)
	case "user":
		return readUser(m)
	case "tool":
		if id, ok := IDOf(pyjson.First(m.From("tool_call_id"))); ok {
			return Row{IDs: []Key{{id, true}}}
		}
	}
	return Row{}
}

func readAssistant(m Message) Row {
	listed := m.From("tool_calls")
	r := Row{Assistant: true, Acts: listed != nil}
	for raw, values := range pyjson.Pick(listed, "id") {
		if pyjson.KindOf(raw) == pyjson.Object {
			r.IDs = append(r.IDs, KeyOf(values[0]))
		}
	}
	content := m.Blocks()
	if content == nil {
		return r
	}
	known := make(map[Key]bool, len(r.IDs))
	for _, k := range r.IDs {
		known[k] = true
	}
	for block := range pyjson.Elements(content) {
		if !IsBlock(block, "tool_use") {
			continue
		}
		r.Acts = true
		if k := KeyOf(Members(block, "id")[0]); !k.Named || !known[k] { // else it is one call in both forms
			r.IDs = append(r.IDs, k)
		}
	}
	return r
}

func readUser(m Message) Row {
	r := Row{Blocks: true}
	user := ReadUser(m.From("content"), m.From("tool_call_id") != nil, func(block []byte) {
		if id, ok := ResultID(block); ok {
			r.IDs = append(r.IDs, Key{id, true})
		}
	})
	r.Begins, r.Real = user.Begins, user.Real
	r.Other = len(r.IDs) < user.Blocks
	return r
}

// UserRow holds the facts about a user message.
type UserRow struct {
	Begins bool // it begins a turn: it holds no result of a tool
	Real   bool // a person wrote it
	Blocks int  // blocks that were looked at; 0 where none could be a result or a reminder
}

// ReadUser reads a user message. content is the row from the value of its member content
// on, nil where it has none; answers reports whether the row has a member tool_call_id.
// Each block that is the result of a tool is passed to result, which may be nil.
//
// A message is real when it has no tool_call_id, no text of it begins with
// <system-reminder>, and it is more than results of tools.
func ReadUser(content []byte, answers bool, result func(block []byte)) UserRow {
	r := UserRow{Begins: true, Real: !answers}
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

// reminderTag begins texts that tools write in the name of the user.
const reminderTag = "<system-reminder>"

// reminderHead is how many bytes of a text are decoded at first to look for the tag.
const reminderHead = 1 << 10

// IsReminder reports whether raw begins with a JSON string that a tool inserted in the
// name of the user. Anything may follow the string.
func IsReminder(raw []byte) bool {
	if pyjson.KindOf(raw) != pyjson.String {
		return false
	}
	start := pyjson.TrimSpace(raw[1:])
	if len(start) == 0 || start[0] != reminderTag[0] && start[0] != '\\' {
		return false // most messages need not be decoded
	}
	raw = pyjson.First(raw)
	for most := reminderHead; ; most = math.MaxInt {
		text, whole := pyjson.Head(raw, most)
		if begin := pyjson.TrimSpace([]byte(text)); whole || len(begin) >= len(reminderTag) {
			return bytes.HasPrefix(begin, []byte(reminderTag))
		}
	}
}

// IsPrompt reports whether a user message is a prompt of a person, by the stricter rule
// that the newest tools use to separate prompts from texts that hosts insert: it has no
// tool_call_id, no text of it begins with <system-reminder>, metadata.ephemeral is not
// true in Python's sense, and no block of it names the call of which it is the result. A
// block that names none does not count.
//
// content and metadata are the row from the values of these members on, nil where it has
// none; answers reports whether the row has a member tool_call_id.
func IsPrompt(content, metadata []byte, answers bool) bool {
	if answers || isEphemeral(metadata) {
		return false
	}
	switch pyjson.KindOf(content) {
	case pyjson.String:
		return !IsReminder(content)
	case pyjson.Array:
	default:
		return true
	}
	for block, member := range pyjson.Pick(content, "type", "text") {
		if IsReminder(member[1]) || isResult(member[0]) && namesCall(block) {
			return false
		}
	}
	return true
}

func isEphemeral(metadata []byte) bool {
	if metadata == nil {
		return false
	}
	metadata = pyjson.First(metadata)
	if pyjson.KindOf(metadata) != pyjson.Object {
		return false
	}
	raw, ok := pyjson.Lookup(metadata, "ephemeral")
	return ok && pyjson.Truthy(raw)
}

// isResult reports whether a block of that type is the result of a tool.
func isResult(kind []byte) bool {
	return pyjson.KindOf(kind) == pyjson.String && (pyjson.KeyIs(kind, "tool_result") || pyjson.KeyIs(kind, "function_call_output"))
}

// namesCall reports whether the first of the members with an id that is true in
// Python's sense is a text.
func namesCall(block []byte) bool {
	for _, raw := range pyjson.Values(block, "tool_use_id", "tool_call_id", "call_id", "id") {
		if raw != nil && pyjson.Truthy(raw) {
			return pyjson.KindOf(raw) == pyjson.String
		}
	}
	return false
}

// PromptText returns the JSON text by which a prompt is found among events: the
// content, or the text of the first block of the type text in it. It is nil if
// there is none. content is as for [IsPrompt].
func PromptText(content []byte) []byte {
	switch pyjson.KindOf(content) {
	case pyjson.String:
		return pyjson.First(content)
	case pyjson.Array:
	default:
		return nil
	}
	for _, member := range pyjson.Pick(content, "type", "text") {
		if pyjson.KindOf(member[0]) == pyjson.String && pyjson.KeyIs(member[0], "text") && pyjson.KindOf(member[1]) == pyjson.String {
			return pyjson.First(member[1])
		}
	}
	return nil
}

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

// TextOf returns the text of a JSON string as IDOf does, and "" for any other value.
func TextOf(raw []byte) string {
	text, _ := IDOf(raw)
	return text
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
