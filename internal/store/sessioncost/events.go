package sessioncost

import (
	"context"
	"io"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/capture"
	"github.com/amplifier-go/sessionstorage/internal/store/decimal"
)

// Events are the prompts and costs of a log of events, in their order.
type Events struct {
	steps    []step
	codes    []capture.Code // the faults of rows, each once
	foreign  bool           // there is a response of another session with a cost
	unstable bool           // the file changed while it was read
}

// step is a prompt that was submitted, or a response of a model.
type step struct {
	line   int
	scoped bool // the row names the session
	submit bool
	text   bool     // of a prompt: it is a text
	sum    [32]byte // of that text
	cost   cost     // of a response
}

// cost is the cost in a response.
type cost struct {
	told   bool // there is a member cost_usd
	valid  bool // it is an amount
	amount decimal.Number
}

// ReadEvents reads the log of the session owner. It holds one row in memory, and
// some 100 bytes for each prompt and response.
func ReadEvents(ctx context.Context, r io.Reader, owner string) (*Events, error) {
	all := &Events{}
	look := func(row []byte) { all.foreign = all.foreign || isForeign(row, owner) }
	found, err := capture.Read(ctx, r, owner, look, all.note)
	if err != nil {
		return nil, err
	}
	for _, d := range found {
		if !slices.Contains(all.codes, d.Code) {
			all.codes = append(all.codes, d.Code)
		}
	}
	return all, nil
}

func (all *Events) note(e capture.Event) {
	s := step{line: e.Line, scoped: e.Session != ""}
	switch e.Name {
	case capture.PromptSubmit:
		s.submit = true
		r := e.Ref()
		s.text, s.sum = r.Submits, r.Prompt
	case capture.LLMResponse:
		s.cost = costOf(e.Data)
	default:
		return
	}
	all.steps = append(all.steps, s)
}

// costOf returns the cost in the data of a response.
func costOf(data []byte) (c cost) {
	raw := costMember(data)
	if raw == nil {
		return c
	}
	c.told = true
	c.amount, c.valid = decimal.FromJSON(raw)
	return c
}

// costMember returns the member usage.cost_usd of data, nil where there is none.
func costMember(data []byte) []byte {
	if pyjson.KindOf(data) != pyjson.Object {
		return nil
	}
	usage, _ := pyjson.Lookup(data, "usage")
	if pyjson.KindOf(usage) != pyjson.Object {
		return nil
	}
	raw, _ := pyjson.Lookup(usage, "cost_usd")
	return raw
}

// isForeign reports whether a row is a response of another session than owner, with a
// cost of any kind. It reads more than [capture.Parse] does: also rows with NaN, and with
// different ids, of which the id in the data counts.
func isForeign(row []byte, owner string) bool {
	if !pyjson.MayHold(row, "cost_usd") || pyjson.Check(row, pyjson.Tolerant) != nil {
		return false
	}
	if pyjson.KindOf(row) != pyjson.Object {
		return false
	}
	found := pyjson.Values(pyjson.Trim(row), "event", "data", "session_id")
	if pyjson.KindOf(found[0]) != pyjson.String || !pyjson.KeyIs(found[0], capture.LLMResponse) || costMember(found[1]) == nil {
		return false
	}
	id, _ := pyjson.Lookup(found[1], "session_id")
	if id == nil || !pyjson.Truthy(id) {
		id = found[2]
	}
	if id == nil || !pyjson.Truthy(id) {
		return false
	}
	return pyjson.KindOf(id) != pyjson.String || !pyjson.KeyIs(id, owner)
}

// findings returns the faults of the log as a whole, in the words of the newest tools.
func (all *Events) findings(owner string) (found []string) {
	for _, code := range all.codes {
		found = append(found, "ci_"+string(code)+":"+owner)
	}
	if all.foreign {
		found = append(found, "foreign_cost:"+owner)
	}
	if all.unstable {
		found = append(found, "unstable_ci_capture:"+owner)
	}
	return found
}
