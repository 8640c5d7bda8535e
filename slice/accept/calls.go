package accept

import (
	"bytes"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
)

// listedCalls examines the member tool_calls.
func (e *examiner) listedCalls() {
	raw := turns.Members(e.line, "tool_calls")[0]
	switch pyjson.KindOf(raw) {
	case pyjson.Invalid, pyjson.Null:
		return
	case pyjson.Array:
	default:
		e.report(BadCall, "")
		e.line = pyjson.TrimSpace(pyjson.Remove(e.line, "tool_calls"))
		return
	}
	var list []block
	before := len(e.found)
	for raw := range pyjson.Elements(raw) {
		if pyjson.KindOf(raw) != pyjson.Object {
			e.report(BadCall, "")
			continue
		}
		raw = e.call(raw)
		id, _ := turns.IDOf(turns.Members(raw, "id")[0])
		name, _ := calledName(raw)
		e.calls = append(e.calls, sentCall{id, name, []place{{true, len(list)}}})
		list = append(list, block{calling, raw})
	}
	if len(e.found) > before {
		e.set("tool_calls", arrayOf(list))
	}
}

// noteCalls notes the calls among the blocks. A call that is listed in
// tool_calls too is one call in two places.
func (e *examiner) noteCalls(list []block) {
	listed := map[string][]int{}
	for i, c := range e.calls {
		if c.id != "" {
			listed[c.id] = append(listed[c.id], i)
		}
	}
	for i, b := range list {
		if b.kind != calling {
			continue
		}
		id, _ := turns.IDOf(turns.Members(b.raw, "id")[0])
		if twins := listed[id]; len(twins) > 0 {
			twin := &e.calls[twins[0]]
			twin.places = append(twin.places, place{at: i})
			listed[id] = twins[1:]
			continue
		}
		name, _ := calledName(b.raw)
		e.calls = append(e.calls, sentCall{id, name, []place{{at: i}}})
	}
}

// call examines the name and the arguments of a call. It returns the call with
// a name and arguments that the provider allows.
func (e *examiner) call(raw []byte) []byte {
	id, _ := turns.IDOf(turns.Members(raw, "id")[0])
	if name, member := calledName(raw); !e.goodName(name) {
		e.report(BadToolName, id)
		raw = setWithin(raw, member, pyjson.Quote(e.mendName(name)))
	}
	args, member := calledArguments(raw)
	args, half := pyjson.Paired(args)
	if half {
		e.report(BadArguments, id)
		raw = setWithin(raw, member, args)
	}
	if !e.objects {
		return raw
	}
	if isArguments(args) {
		if text, half := pyjson.Paired([]byte(turns.TextOf(args))); half {
			e.report(BadArguments, id)
			raw = setWithin(raw, member, pyjson.Quote(string(text)))
		}
		return raw
	}
	e.report(BadArguments, id)
	object := append(append([]byte(`{"arguments": `), args...), '}')
	if pyjson.KindOf(args) == pyjson.String {
		object = pyjson.Quote(string(object))
	}
	return setWithin(raw, member, object)
}

// calledName returns the name of the called tool, and the path of the member
// that holds it.
func calledName(raw []byte) (name string, member []string) {
	f := turns.Members(raw, "function", "name", "tool")
	if pyjson.KindOf(f[0]) == pyjson.Object {
		return turns.TextOf(turns.Members(f[0], "name")[0]), []string{"function", "name"}
	}
	if f[1] == nil && f[2] != nil {
		return turns.TextOf(f[2]), []string{"tool"}
	}
	return turns.TextOf(f[1]), []string{"name"}
}

// calledArguments returns the arguments of a call, and the path of the member
// that holds them.
func calledArguments(raw []byte) (args []byte, member []string) {
	f := turns.Members(raw, "function", "arguments", "input")
	if pyjson.KindOf(f[0]) == pyjson.Object {
		return turns.Members(f[0], "arguments")[0], []string{"function", "arguments"}
	}
	if f[1] == nil {
		return f[2], []string{"input"}
	}
	return f[1], []string{"arguments"}
}

// setWithin sets the member of an object that the path names.
func setWithin(raw []byte, member []string, value []byte) []byte {
	if len(member) > 1 {
		value = setWithin(turns.Members(raw, member[0])[0], member[1:], value)
	}
	return pyjson.Splice(raw, member[0], value)
}

// isArguments reports whether arguments are an object, the text of one, or
// none.
func isArguments(raw []byte) bool {
	switch pyjson.KindOf(raw) {
	case pyjson.Object, pyjson.Null, pyjson.Invalid:
		return true
	case pyjson.String:
		text := bytes.TrimSpace([]byte(pyjson.Text(raw)))
		return len(text) == 0 || pyjson.KindOf(text) == pyjson.Object && pyjson.Check(text, pyjson.Tolerant) == nil
	}
	return false
}

// badIDs returns the calls that need another id, by their index among all
// calls, and for each of them the reason.
func (r rules) badIDs(rows []sent) (calls []int, bad []Refusal) {
	first := map[string]int{} // by id: the message with the call that may keep it
	call := -1
	for i, s := range rows {
		for _, c := range s.calls {
			call++
			before, known := first[c.id]
			why, other := Reason(""), -1
			switch {
			case c.id == "":
				why = CallWithoutID
			case !r.goodID(c.id):
				why = BadCallID
			case known && (r.unique == uniqueEverywhere || r.unique == uniqueInMessage && before == i):
				why = DuplicateCallID
				if before != i {
					other = before
				}
			}
			if why != "" {
				calls = append(calls, call)
				bad = append(bad, Refusal{Reason: why, Row: i, Other: other, CallID: c.id})
			} else if !known || r.unique == uniqueInMessage {
				first[c.id] = i
			}
		}
	}
	return calls, bad
}
