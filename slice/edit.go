package slice

import (
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// removeCalls takes the orphans out of the messages that make them, and a list
// of calls that is empty then. As in the reference, lists that were empty
// before go too.
func removeCalls(msgs []sessionstore.Message, rows []row, orphans map[string]bool) ([]sessionstore.Message, error) {
	var b builder
	for i, m := range msgs {
		if !rows[i].assistant || !rows[i].acts {
			b.keep(m)
			continue
		}
		line := value(m)
		changed := withoutCalls(line, orphans)
		if len(changed) == len(line) {
			b.keep(m)
			continue
		}
		b.parse(changed)
	}
	return b.done()
}

// withoutCalls returns a message without the calls of those ids, of the same
// length only if it is the same.
func withoutCalls(line []byte, ids map[string]bool) []byte {
	found := members(line, "tool_calls", "content")
	if pyjson.KindOf(found[0]) == pyjson.Array {
		list, left := without(found[0], func(raw []byte) bool {
			id, ok := idOf(members(raw, "id")[0])
			return ok && ids[id]
		})
		if left == 0 {
			line = pyjson.Remove(line, "tool_calls")
		} else {
			line = pyjson.Splice(line, "tool_calls", list)
		}
	}
	if pyjson.KindOf(found[1]) == pyjson.Array {
		list, _ := without(found[1], func(raw []byte) bool {
			id, ok := idOf(members(raw, "id")[0])
			return ok && ids[id] && isBlock(raw, "tool_use")
		})
		line = pyjson.Splice(line, "content", list)
	}
	return line
}

// withoutResults returns a user message without the blocks that are results of
// calls with those ids, and how many blocks are left.
func withoutResults(line []byte, ids map[string]bool) ([]byte, int) {
	list, left := without(members(line, "content")[0], func(raw []byte) bool {
		id, ok := resultID(raw)
		return ok && ids[id] && isBlock(raw, "tool_result")
	})
	return pyjson.Splice(line, "content", list), left
}

// without returns an array without the elements that go, and how many are
// left.
func without(arr []byte, goes func(raw []byte) bool) (list []byte, left int) {
	all := 0
	list = []byte{'['}
	for raw := range pyjson.Elements(arr) {
		all++
		if goes(raw) {
			continue
		}
		if left > 0 {
			list = append(list, ", "...)
		}
		list = append(list, raw...)
		left++
	}
	if left == all {
		return arr, left
	}
	return append(list, ']'), left
}

// named returns an assistant message whose calls without an id have the ids
// that next returns.
func named(line []byte, next func() string) []byte {
	found := members(line, "tool_calls", "content")
	name := func(raw []byte) []byte {
		return pyjson.Splice(raw, "id", pyjson.AppendQuoted(nil, next(), pyjson.Style{}))
	}
	unnamed := func(raw []byte) bool {
		_, ok := idOf(members(raw, "id")[0])
		return !ok
	}
	line = replaced(line, "tool_calls", found[0], name, func(raw []byte) bool {
		return pyjson.KindOf(raw) == pyjson.Object && unnamed(raw)
	})
	return replaced(line, "content", found[1], name, func(raw []byte) bool {
		return isBlock(raw, "tool_use") && unnamed(raw)
	})
}

// replaced returns an object in whose member name, the array arr, the elements
// that are meant are replaced.
func replaced(line []byte, name string, arr []byte, by func([]byte) []byte, meant func([]byte) bool) []byte {
	list, changed := []byte{'['}, false
	for raw := range pyjson.Elements(arr) {
		if len(list) > 1 {
			list = append(list, ", "...)
		}
		if meant(raw) {
			raw, changed = by(raw), true
		}
		list = append(list, raw...)
	}
	if !changed {
		return line
	}
	return pyjson.Splice(line, name, append(list, ']'))
}

// value returns a copy of the object that a message is.
func value(m sessionstore.Message) []byte { return pyjson.TrimSpace(m.AppendTo(nil)) }
