package turns

import (
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/userrow"
)

// Message is a message as [Read] looks at it.
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

// Row is what there is to know about a message.
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

// Read looks into one message. The row keeps none of its bytes.
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
	user := userrow.Read(m.From("content"), m.From("tool_call_id") != nil, func(block []byte) {
		if id, ok := ResultID(block); ok {
			r.IDs = append(r.IDs, Key{id, true})
		}
	})
	r.Begins, r.Real = user.Begins, user.Real
	r.Other = len(r.IDs) < user.Blocks
	return r
}
