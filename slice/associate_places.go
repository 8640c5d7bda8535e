package slice

import (
	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/capture"
	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/turns"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// places tells where in a conversation things are that events name.
type places struct {
	messages map[string]int // by the id of the message
	calls    map[string]int // by the id of the call: the message that makes it
	results  map[string]int // by the id of the call: the message that answers it
	prompts  []prompt
	turns    []int // by message: its turn, or -1
	starts   []int // by turn: the message that begins it
}

// several stands for more than one message.
const several = -2

// prompt is a message whose text a person submitted.
type prompt struct {
	message int
	sum     eventslog.TextSum
}

func placesOf(msgs []sessionstore.Message) *places {
	p := &places{
		messages: map[string]int{}, calls: map[string]int{}, results: map[string]int{}, turns: make([]int, len(msgs)),
	}
	for i, m := range msgs {
		p.note(i, m)
	}
	return p
}

// note notes what is in message i.
func (p *places) note(i int, m sessionstore.Message) {
	if IsPrompt(m) {
		p.starts = append(p.starts, i)
		if sum, ok := capture.Sum(pyjson.First(core.From(m, "content"))); ok {
			p.prompts = append(p.prompts, prompt{i, sum})
		}
	}
	p.turns[i] = len(p.starts) - 1
	add(p.messages, messageID(m), i)
	for raw, values := range pyjson.Pick(core.From(m, "tool_calls"), "id") {
		if pyjson.KindOf(raw) == pyjson.Object {
			add(p.calls, textID(values[0]), i)
		}
	}
	add(p.results, textID(pyjson.First(core.From(m, "tool_call_id"))), i)
	for block := range pyjson.Elements(core.Blocks(m)) {
		p.noteBlock(i, block)
	}
}

func (p *places) noteBlock(i int, block []byte) {
	if pyjson.KindOf(block) != pyjson.Object {
		return
	}
	kind, _ := pyjson.Lookup(block, "type")
	switch textID(kind) {
	case "tool_use", "tool_call", "function_call":
		add(p.calls, blockID(block), i)
	case "tool_result", "function_call_output":
		add(p.results, blockID(block), i)
	}
}

// add notes that message i has the id. Two messages that have it make it
// several; one may have it twice.
func add(at map[string]int, id string, i int) {
	if id == "" {
		return
	}
	if was, ok := at[id]; ok && was != i {
		i = several
	}
	at[id] = i
}

// messageID returns the id of a message, "" if it has none.
func messageID(m sessionstore.Message) string {
	if raw := pyjson.First(core.From(m, "message_id")); raw != nil && pyjson.Truthy(raw) {
		return textID(raw)
	}
	metadata := pyjson.First(core.From(m, "metadata"))
	if pyjson.KindOf(metadata) != pyjson.Object {
		return ""
	}
	raw, _ := pyjson.Lookup(metadata, "message_id")
	return textID(raw)
}

// blockID returns the id of the call that a block makes or answers: the first
// of these members that is true in Python's sense, if it is a text.
func blockID(block []byte) string {
	for _, raw := range pyjson.Values(block, "tool_use_id", "tool_call_id", "call_id", "id") {
		if raw != nil && pyjson.Truthy(raw) {
			return textID(raw)
		}
	}
	return ""
}

// textID returns the text of a JSON string, and "" for any other value.
func textID(raw []byte) string {
	id, _ := turns.IDOf(raw)
	return id
}
