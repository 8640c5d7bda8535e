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
	signs bool // the first call of a message in the last turn has a signature

	read     func(piece []byte) []Block                               // what a piece of an answer says
	pieces   func(role string, b Block, left func(what string)) []any // the pieces that say b; nil where nothing does
	messages func(role string, pieces []any) []any                    // the messages that hold the pieces

	Fits func(piece []byte) bool // reports whether the SDK takes a piece; nil: it takes each
}

// message is one of a request, before it has the provider's form.
type message struct {
	row    int // the last one that it says
	side   string
	own    bool // the provider said it
	pieces []any
}

// object is a JSON object.
type object map[string]any

// The formats, by the names under which messages keep what only the provider knows.
var formats = []*Format{Anthropic, OpenAI, Gemini}

// breaking are the reasons for which a conversation is refused. For others it is mended: the
// provider cannot be told it as it is, and it says the same without.
var breaking = []accept.Reason{
	accept.UnknownRole, accept.BadContent, accept.BadBlock, accept.ForeignBlock, accept.BadCall, accept.BadArguments, accept.CallWithoutID,
	accept.DuplicateCallID, accept.CallNoResult, accept.ResultNoCall, accept.DuplicateResult, accept.ResultEarly, accept.ResultLate,
}

// Request returns the messages of a request, one after the other, as JSON. The error is for
// what breaks the conversation: calls and results that do not match, and messages of no
// known form.
func (f *Format) Request(msgs []sessionstore.Message) (list []json.RawMessage, r bridge.Report, err error) {
	for _, refusal := range accept.Check(f.rules, msgs) {
		if slices.Contains(breaking, refusal.Reason) {
			return nil, r, fmt.Errorf("make a request of %s: %s (accept.Fix does)", f.Name, refusal)
		}
	}
	done, err := accept.Fix(f.rules, msgs)
	if err != nil {
		return nil, r, fmt.Errorf("make a request of %s: %w", f.Name, err)
	}
	row, inserted := 0, map[int]bool{}
	leftOf := func(row int, what string) {
		r.LeftOut = append(r.LeftOut, bridge.LeftOut{Row: min(row, len(msgs)-1), What: cmp.Or(what, "thinking")})
	}
	left := func(what string) { leftOf(row, what) }
	for _, a := range done.Amendments {
		row, inserted[a.At] = a.Row, a.Kind == accept.Inserted
		for _, why := range a.Reasons {
			left(string(why))
		}
	}
	row = 0
	names := map[string]string{} // of tools, by the ids of their calls
	items := map[string]bool{}   // ids of the items that were said as they were
	var all []message
	for i, m := range done.Messages {
		if side := sideOf(m); side == "" {
			r.System = append(r.System, m.Content())
		} else {
			said := message{row, side, owner(m) == f.Name, f.say(m, names, items, left)}
			if n := len(all) - 1; f.joins && n >= 0 && all[n].side == side {
				said.own, said.pieces = said.own && all[n].own, append(all[n].pieces, said.pieces...)
				all = all[:n]
			}
			all = append(all, said)
		}
		if !inserted[i] {
			row++
		}
	}
	if f == Anthropic {
		f.paired(all, leftOf)
	}
	for i := len(all) - 1; f.signs && i >= 0 && !all[i].prompts(); i-- { // the current turn
		if !all[i].own {
			skipSignature(all[i].pieces)
		}
	}
	slices.SortStableFunc(r.LeftOut, func(a, b bridge.LeftOut) int { return a.Row - b.Row })
	if list, err = f.write(all); err != nil {
		return nil, bridge.Report{}, err
	}
	return list, r, nil
}

// write returns messages in the provider's form.
func (f *Format) write(all []message) (list []json.RawMessage, err error) {
	for _, m := range all {
		if len(m.pieces) == 0 {
			continue
		}
		for _, message := range f.messages(m.side, m.pieces) {
			raw, err := json.Marshal(message)
			if err != nil {
				return nil, fmt.Errorf("make a request of %s: a call's arguments are not JSON: NaN, or an infinity", f.Name)
			}
			list = append(list, raw)
		}
	}
	return list, nil
}

// leftOut is said where nothing of a message is.
var leftOut = Block{Kind: Text, Text: "(A part of this message was left out.)"}

// emptied is what accept.Fix says where a provider would be sent nothing of an answer.
const emptied = "(This answer was empty.)"

// owner returns the name of the provider that gave an answer, "" where no format has it.
func owner(m sessionstore.Message) string {
	raw, _ := m.Lookup("metadata")
	for _, f := range formats {
		if text(raw, "provider") == f.Name || member(raw, f.Name) != nil || member(raw, f.Name+":response_id") != nil {
			return f.Name
		}
	}
	return ""
}

// sideOf returns the side of a conversation that a message is on, "" for instructions.
func sideOf(m sessionstore.Message) string {
	switch role := m.Role(); role {
	case "system", "developer":
		return ""
	case "assistant":
		return role
	}
	return "user"
}

// say returns the pieces of a message, and calls left for what they do not say.
func (f *Format) say(m sessionstore.Message, names map[string]string, items map[string]bool, left func(what string)) (pieces []any) {
	blocks, side := Read(m), sideOf(m)
	for _, b := range blocks {
		if b.Kind == Call {
			names[b.ID] = b.Name
		}
	}
	filled := len(blocks) > 0 && f.signs && side == "assistant" && blocks[len(blocks)-1].Text == emptied
	if filled { // Gemini is sent its pictures and what it ran
		blocks = blocks[:len(blocks)-1]
	}
	lost, by := false, owner(m)
	leave := func(what string) { lost = true; left(what) }
	wire := f.wire(m)
	for _, kind := range unanswered(wire) {
		leave(kind)
	}
	again := func(raw json.RawMessage) bool { return items[text(raw, "id")] } // OpenAI refuses an id that comes again
	if wire != nil && !lost && !slices.ContainsFunc(wire, again) && same(f.readAll(wire), blocks) {
		for _, raw := range wire {
			pieces = append(pieces, raw)
			items[text(raw, "id")] = f == OpenAI && text(raw, "id") != ""
		}
		return pieces
	}
	for _, b := range blocks {
		if b.Kind == Result {
			b.Name = cmp.Or(names[b.ID], b.Name)
		}
		switch {
		case b.Kind == Thinking && by != f.Name && (by != "" || f.signs): // Gemini refuses the signature of another: antigravity-claude-proxy#18
			leave(strings.TrimSuffix("thinking of "+by, " of "))
		case b.Kind != Text || b.Text != "":
			pieces = append(pieces, f.pieces(side, b, leave)...)
		}
	}
	if filled && len(pieces) == 0 {
		pieces = f.pieces(side, Block{Kind: Text, Text: emptied}, left)
	} else if len(pieces) == 0 && lost { // without it the sides would not alternate
		pieces = f.pieces(side, leftOut, left)
	}
	return pieces
}

// wire returns the JSON of the whole answer that is kept beside its blocks, nil where there
// is none that the SDK takes.
func (f *Format) wire(m sessionstore.Message) (list []json.RawMessage) {
	raw, _ := m.Lookup("metadata")
	for piece := range pyjson.Elements(member(member(raw, f.Name), "wire_content")) {
		if pyjson.KindOf(piece) != pyjson.Object || f.Fits != nil && !f.Fits(piece) { // a tool changed it
			return nil
		}
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
