package slice

import (
	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/capture"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Method is the way in which an event was tied to a message.
type Method string

// The methods, in the order in which they are tried.
const (
	Unassociated Method = ""             // the event fits no message, or more than one
	ByMessageID  Method = "message_id"   // it names the message
	ByToolCallID Method = "tool_call_id" // it names a call: its result for tool:post and tool:error, else the message that makes it
	ByPrompt     Method = "prompt_match" // it submits the text of the message
)

// Association is where in a conversation an event belongs. Turns are the turns that a
// person began, see [IsPrompt]; they are fewer than the turns of [Turns]. All numbers are
// indexes, or -1 where there is none.
type Association struct {
	Message     int // of the message that the event is about
	Turn        int // of the turn of that message, from 0
	TurnMessage int // of the message that begins this turn
	Method      Method
}

// Associate ties events to messages. It returns an Association for each event,
// in order. Times count for nothing: an event belongs to a message whose id,
// call or text it names. If two messages have the id or the call, the event is
// tied to neither. Prompts are matched in their order if all prompts that were
// submitted are all prompts of the conversation; otherwise those match whose
// text occurs once on either side.
//
// Events of no session, and auxiliary ones, are tied to nothing. Associate never fails:
// [eventslog.Log.Refs] reports the rows of the log that could not be read. It takes linear
// time.
func Associate(msgs []sessionstore.Message, events []eventslog.Ref) []Association {
	p := placesOf(msgs)
	submits := capture.MatchPrompts(submitsIn(events), p.prompts, true)
	all := make([]Association, len(events))
	for i, e := range events {
		at, method := -1, Unassociated
		if e.SessionID != "" && !e.Auxiliary {
			at, method = p.find(e)
			if prompt, ok := submits[i]; ok && at < 0 {
				at, method = prompt, ByPrompt
			}
		}
		all[i] = p.association(at, method)
	}
	return all
}

// find returns the message that an event names by an id, or -1.
func (p *places) find(e eventslog.Ref) (int, Method) {
	if at, ok := p.messages[e.MessageID]; ok && at >= 0 {
		return at, ByMessageID
	}
	if e.CallID == "" {
		return -1, Unassociated
	}
	call, called := p.calls[e.CallID]
	result, answered := p.results[e.CallID]
	if call == ambiguous || result == ambiguous {
		return -1, Unassociated
	}
	if e.Event == "tool:post" || e.Event == "tool:error" {
		call, called = result, answered
	}
	if !called {
		return -1, Unassociated
	}
	return call, ByToolCallID
}

// association returns the Association with a message, or with none where at is
// negative.
func (p *places) association(at int, method Method) Association {
	a := Association{Message: -1, Turn: -1, TurnMessage: -1, Method: method}
	if at < 0 {
		return a
	}
	a.Message, a.Turn = at, p.turns[at]
	if a.Turn >= 0 {
		a.TurnMessage = p.starts[a.Turn]
	}
	return a
}

// submitsIn returns the prompts that events submitted.
func submitsIn(events []eventslog.Ref) (submits []capture.Prompt) {
	for i, e := range events {
		if e.Prompt != (eventslog.TextSum{}) && e.SessionID != "" {
			submits = append(submits, capture.Prompt{At: i, Sum: e.Prompt, Text: true})
		}
	}
	return submits
}

// places has the places in a conversation that events name.
type places struct {
	messages map[string]int   // by the id of the message
	calls    map[string]int   // by the id of the call: the message that makes it
	results  map[string]int   // by the id of the call: the message that answers it
	prompts  []capture.Prompt // the messages whose text a person submitted
	turns    []int            // by message: its turn, or -1
	starts   []int            // by turn: the message that begins it
}

// ambiguous means more than one message.
const ambiguous = -2

func placesOf(msgs []sessionstore.Message) *places {
	p := &places{
		messages: map[string]int{}, calls: map[string]int{}, results: map[string]int{}, turns: make([]int, len(msgs)),
	}
	for i, m := range msgs {
		p.note(i, m)
	}
	return p
}

// note notes the contents of message i.
func (p *places) note(i int, m sessionstore.Message) {
	if IsPrompt(m) {
		p.starts = append(p.starts, i)
		if sum, ok := capture.Sum(pyjson.First(core.From(m, "content"))); ok {
			p.prompts = append(p.prompts, capture.Prompt{At: i, Sum: sum, Text: true})
		}
	}
	p.turns[i] = len(p.starts) - 1
	add(p.messages, messageID(m), i)
	for raw, values := range pyjson.Pick(core.From(m, "tool_calls"), "id") {
		if pyjson.KindOf(raw) == pyjson.Object {
			add(p.calls, turns.TextOf(values[0]), i)
		}
	}
	add(p.results, turns.TextOf(pyjson.First(core.From(m, "tool_call_id"))), i)
	for block := range pyjson.Elements(core.Blocks(m)) {
		p.noteBlock(i, block)
	}
}

func (p *places) noteBlock(i int, block []byte) {
	if pyjson.KindOf(block) != pyjson.Object {
		return
	}
	kind, _ := pyjson.Lookup(block, "type")
	switch turns.TextOf(kind) {
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
		i = ambiguous
	}
	at[id] = i
}

// messageID returns the id of a message, "" if it has none.
func messageID(m sessionstore.Message) string {
	if raw := pyjson.First(core.From(m, "message_id")); raw != nil && pyjson.Truthy(raw) {
		return turns.TextOf(raw)
	}
	metadata := pyjson.First(core.From(m, "metadata"))
	if pyjson.KindOf(metadata) != pyjson.Object {
		return ""
	}
	raw, _ := pyjson.Lookup(metadata, "message_id")
	return turns.TextOf(raw)
}

// blockID returns the id of the call that a block makes or answers: the first
// of these members that is true in Python's sense, if it is a text.
func blockID(block []byte) string {
	for _, raw := range pyjson.Values(block, "tool_use_id", "tool_call_id", "call_id", "id") {
		if raw != nil && pyjson.Truthy(raw) {
			return turns.TextOf(raw)
		}
	}
	return ""
}
