package said

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// Format is the form in which a provider takes a conversation. Its pieces are what an
// answer is a list of: blocks, items or parts.
type Format struct {
	Name  string // of the provider, in metadata and events
	rules accept.Provider
	joins bool // messages of one side that follow each other are one

	read     func(piece []byte) []Block                               // what a piece of an answer says
	pieces   func(role string, b Block, left func(what string)) []any // the pieces that say b; nil where nothing does
	messages func(role string, pieces []any) []any                    // the messages that hold the pieces
}

// object is a JSON object.
type object map[string]any

// The formats, by the names under which messages keep what only the provider knows.
var formats = []*Format{Anthropic, OpenAI, Gemini}

// mended are the reasons for which a conversation is mended and not refused: the provider
// cannot say it as it is, and it says the same without.
var mended = []accept.Reason{
	accept.UnsignedThinking, accept.ForeignThinking, accept.BrokenThinking, accept.ThinkingNotFirst, accept.ThinkingLast,
	accept.DuplicateReason, accept.ReasoningAlone, accept.BlankText, accept.EmptyContent, accept.LargeImage, accept.ResultNotFirst,
	accept.BadToolName, accept.BadCallID, accept.RolesInARow, accept.FirstNotUser,
}

// Request returns the messages of a request, one after the other, as JSON. The error is for
// what breaks the conversation: calls and results that do not match, and messages of no
// known form.
func (f *Format) Request(msgs []sessionstore.Message) (list []json.RawMessage, r bridge.Report, err error) {
	fixed, rows, err := f.prepare(msgs, &r)
	if err != nil {
		return nil, bridge.Report{}, err
	}
	names := map[string]string{} // of tools, by the ids of their calls
	side, said := "", []any(nil)
	var all []any
	for i, m := range fixed {
		left := func(what string) {
			r.LeftOut = append(r.LeftOut, bridge.LeftOut{Row: rows[i], What: cmp.Or(what, "thinking")})
		}
		if now := sideOf(m); len(said) > 0 && (now != side || !f.joins) {
			all, said = append(all, f.messages(side, said)...), nil
		}
		side, said = sideOf(m), append(said, f.say(m, names, left)...)
	}
	if len(said) > 0 {
		all = append(all, f.messages(side, said)...)
	}
	for _, message := range all {
		raw, err := json.Marshal(message)
		if err != nil {
			return nil, bridge.Report{}, fmt.Errorf("make a request of %s: a call's arguments are not JSON: NaN, or an infinity", f.Name)
		}
		list = append(list, raw)
	}
	slices.SortStableFunc(r.LeftOut, func(a, b bridge.LeftOut) int { return a.Row - b.Row })
	return list, r, nil
}

// prepare returns the messages that are sent, mended, and the index that each, or the one
// after an inserted one, had in msgs.
func (f *Format) prepare(msgs []sessionstore.Message, r *bridge.Report) (fixed []sessionstore.Message, rows []int, err error) {
	var kept []sessionstore.Message
	var at []int
	for i, m := range msgs {
		switch role := m.Role(); role {
		case "system", "developer":
			r.System = append(r.System, m.Content())
			continue
		case "assistant":
			var without bool
			if m, without = f.withoutForeign(m); without {
				r.LeftOut = append(r.LeftOut, bridge.LeftOut{Row: i, What: "thinking of " + owner(m)})
			}
		}
		kept, at = append(kept, m), append(at, i)
	}
	for _, refusal := range accept.Check(f.rules, kept) {
		if !slices.Contains(mended, refusal.Reason) {
			refusal.Row = at[refusal.Row]
			if refusal.Other >= 0 {
				refusal.Other = at[refusal.Other]
			}
			return nil, nil, fmt.Errorf("make a request of %s: %s (accept.Fix does)", f.Name, refusal)
		}
	}
	done, err := accept.Fix(f.rules, kept)
	if err != nil {
		return nil, nil, fmt.Errorf("make a request of %s: %w", f.Name, err)
	}
	inserted, next := map[int]bool{}, 0
	for _, a := range done.Amendments {
		row := at[min(a.Row, len(at)-1)]
		for _, why := range a.Reasons {
			r.LeftOut = append(r.LeftOut, bridge.LeftOut{Row: row, What: string(why)})
		}
		inserted[a.At] = inserted[a.At] || a.Kind == accept.Inserted
	}
	for i := range done.Messages {
		rows = append(rows, at[min(next, len(at)-1)])
		if !inserted[i] {
			next++
		}
	}
	return done.Messages, rows, nil
}

// owner returns the name of the provider that gave an answer, "" where it is unknown.
func owner(m sessionstore.Message) string {
	raw, _ := m.Lookup("metadata")
	if name := text(raw, "provider"); name != "" || pyjson.KindOf(raw) != pyjson.Object {
		return name
	}
	for _, f := range formats {
		for mem := range pyjson.Members(raw) {
			if name := pyjson.Text(mem.Key); name == f.Name || strings.HasPrefix(name, f.Name+":") {
				return f.Name
			}
		}
	}
	return ""
}

// withoutForeign returns the answer without its thinking where another provider gave it, and
// whether it had any.
func (f *Format) withoutForeign(m sessionstore.Message) (sessionstore.Message, bool) {
	if name := owner(m); name == "" || name == f.Name {
		return m, false
	}
	row, had := m.AppendTo(nil), false
	if member(row, "thinking_block") != nil {
		row, had = pyjson.Remove(row, "thinking_block"), true
	}
	thinks := func(raw []byte) bool { return blockOf(raw).Kind == Thinking }
	if content := member(row, "content"); pyjson.KindOf(content) == pyjson.Array {
		list, _ := pyjson.Without(content, thinks)
		had = had || len(list) < len(content)
		row = pyjson.Splice(row, "content", list)
	}
	if !had {
		return m, false
	}
	without, err := sessionstore.ParseMessage(pyjson.TrimSpace(row))
	return without, err == nil
}

// sideOf returns the side of a conversation that a message is on.
func sideOf(m sessionstore.Message) string {
	if m.Role() == "assistant" {
		return "assistant"
	}
	return "user"
}

// say returns the pieces of a message, and calls left for what they do not say.
func (f *Format) say(m sessionstore.Message, names map[string]string, left func(what string)) (pieces []any) {
	blocks, side := Read(m), sideOf(m)
	for _, b := range blocks {
		if b.Kind == Call {
			names[b.ID] = b.Name
		}
	}
	if wire := f.wire(m); wire != nil && same(f.readAll(wire), blocks) {
		for _, raw := range wire {
			pieces = append(pieces, raw)
		}
		return pieces
	}
	lost := false
	leave := func(what string) { lost = true; left(what) }
	for _, b := range blocks {
		if b.Kind == Result {
			b.Name = cmp.Or(names[b.ID], b.Name)
		}
		if b.Kind != Text || b.Text != "" {
			pieces = append(pieces, f.pieces(side, b, leave)...)
		}
	}
	if len(pieces) == 0 && lost { // without it the sides would not alternate
		pieces = f.pieces(side, Block{Kind: Text, Text: "(A part of this message was left out.)"}, left)
	}
	return pieces
}

// wire returns the JSON of the whole answer that is kept beside its blocks, nil where there
// is none.
func (f *Format) wire(m sessionstore.Message) (list []json.RawMessage) {
	raw, _ := m.Lookup("metadata")
	for piece := range pyjson.Elements(member(member(raw, f.Name), "wire_content")) {
		list = append(list, piece)
	}
	return list
}

// readAll returns what an answer says.
func (f *Format) readAll(answer []json.RawMessage) (blocks []Block) {
	for _, piece := range answer {
		blocks = append(blocks, f.read(piece)...)
	}
	return blocks
}
