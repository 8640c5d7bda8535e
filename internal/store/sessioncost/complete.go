package sessioncost

import (
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/capture"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
)

// call is a call of a tool as the Python tools read it when they cut. Values are JSON,
// nil where there is none.
type call struct{ id, name []byte }

// completed returns sanitised rows with a result for each call that has none, as the
// Python tools add it. They find no results in messages of the user, so the calls that
// these answer get a second result; package slice finds them, but the hash must be the
// same as in the Python tools. It returns false where they fail: calls are no objects, or
// an id is a list or an object.
func completed(rows []Row) ([]Row, bool) {
	calls := make([][]call, len(rows))
	answered := map[string]bool{}
	for i, row := range rows {
		ok := true
		switch roleOf(row) {
		case assistant:
			calls[i], ok = callsIn(row.JSON)
		case tool:
			id, _ := pyjson.Lookup(row.JSON, "tool_call_id")
			ok = hashable(id)
			answered[string(id)] = id != nil
		}
		if !ok {
			return nil, false
		}
	}
	orphans := map[string]bool{}
	for _, of := range calls {
		for _, c := range of {
			if c.id != nil && !answered[string(c.id)] {
				orphans[string(c.id)] = true
			}
		}
	}
	if len(orphans) == 0 {
		return rows, true
	}
	return withResults(rows, calls, orphans)
}

// withResults adds the results of the orphans behind their calls, and an answer
// where the next row begins a turn.
func withResults(rows []Row, calls [][]call, orphans map[string]bool) (all []Row, ok bool) {
	names, ok := namesOf(rows, calls)
	if !ok {
		return nil, false
	}
	for i, row := range rows {
		all = append(all, row)
		before := len(all)
		for _, c := range calls[i] {
			id := c.id
			if id == nil {
				id = []byte(`""`)
			}
			if orphans[string(id)] {
				all = append(all, Row{resultRow(id, names[string(id)]), "tool"})
			}
		}
		if len(all) > before && i+1 < len(rows) && roleOf(rows[i+1]) == user {
			answer := pyjson.AppendQuoted([]byte(`{"content":`), turns.ForkedAnswer, pyjson.Style{})
			all = append(all, Row{append(answer, `,"role":"assistant"}`...), "assistant"})
		}
	}
	return all, true
}

// namesOf returns the names of tools by the ids of their calls. It returns false
// if a call has a function that is no object.
func namesOf(rows []Row, calls [][]call) (map[string][]byte, bool) {
	names := map[string][]byte{}
	for i, row := range rows {
		if len(calls[i]) == 0 {
			continue
		}
		listed, _ := pyjson.Lookup(row.JSON, "tool_calls")
		for _, values := range pyjson.Pick(listed, "function") {
			if values[0] != nil && pyjson.KindOf(values[0]) != pyjson.Object {
				return nil, false
			}
		}
		for _, c := range calls[i] {
			if c.id != nil && pyjson.Truthy(c.id) && c.name != nil && pyjson.Truthy(c.name) {
				names[string(c.id)] = c.name
			}
		}
	}
	return names, true
}

// resultRow returns the result of a call that a fork cut off.
func resultRow(id, name []byte) []byte {
	row := pyjson.AppendQuoted([]byte(`{"content":`), turns.ForkedResult, pyjson.Style{})
	if name != nil {
		row = append(append(row, `,"name":`...), name...)
	}
	row = append(append(row, `,"role":"tool","tool_call_id":`...), id...)
	return append(row, '}')
}

// callsIn returns the calls of an assistant's row, listed and in blocks. It
// returns false where Python fails.
func callsIn(row []byte) (calls []call, ok bool) {
	found := pyjson.Values(row, "tool_calls", "content")
	if !iterable(found[0]) {
		return nil, false
	}
	for e := range pyjson.Elements(found[0]) {
		if pyjson.KindOf(e) != pyjson.Object {
			return nil, false
		}
		f := pyjson.Values(e, "id", "function", "name")
		name := f[2]
		if inner := nameIn(f[1]); inner != nil {
			name = inner
		}
		calls = append(calls, call{f[0], name})
	}
	for block := range pyjson.Elements(found[1]) {
		if turns.IsBlock(block, "tool_use") {
			f := pyjson.Values(block, "id", "name")
			calls = append(calls, call{f[0], f[1]})
		}
	}
	for _, c := range calls {
		if !hashable(c.id) {
			return nil, false
		}
	}
	return calls, true
}

// nameIn returns the name in the function of a call, nil unless the name is true in
// Python's sense.
func nameIn(function []byte) []byte {
	if pyjson.KindOf(function) != pyjson.Object {
		return nil
	}
	name, _ := pyjson.Lookup(function, "name")
	if name == nil || !pyjson.Truthy(name) {
		return nil
	}
	return name
}

// iterable reports whether Python can iterate over the calls in a value: it is missing, a
// list, or an empty text or object.
func iterable(raw []byte) bool {
	switch pyjson.KindOf(raw) {
	case pyjson.Invalid, pyjson.Array:
		return true
	case pyjson.String, pyjson.Object:
		return !pyjson.Truthy(raw)
	}
	return false
}

// hashable reports whether Python can look a value up.
func hashable(raw []byte) bool {
	kind := pyjson.KindOf(raw)
	return kind != pyjson.Array && kind != pyjson.Object
}

// submitsIn returns the prompts that were submitted, by the index of the step.
func submitsIn(steps []step) (prompts []capture.Prompt) {
	for i, s := range steps {
		if s.scoped && s.submit && s.text {
			prompts = append(prompts, capture.Prompt{At: i, Sum: s.sum, Text: true})
		}
	}
	return prompts
}

// anchorsIn returns the prompts that open turns, by the index of the turn.
func anchorsIn(turns []Turn) (prompts []capture.Prompt) {
	for i, t := range turns {
		if !t.Anchor {
			continue
		}
		sum, ok := capture.Sum(t.Prompt)
		prompts = append(prompts, capture.Prompt{At: i, Sum: sum, Text: ok})
	}
	return prompts
}
