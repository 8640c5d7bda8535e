package conformance

import (
	"encoding/json"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// odd reports whether a message has calls that Python's exceptions are about:
// in no list, in no object, or with an id or function of an odd kind.
func odd(raw string) bool {
	calls := parseObject(raw)
	if unhashable(calls.get("tool_call_id")) {
		return true
	}
	if slices.ContainsFunc(seen{object: calls}.blocks("tool_use"), func(o object) bool { return unhashable(o.get("id")) }) {
		return true
	}
	if calls.index("tool_calls") < 0 {
		return false
	}
	if kindOf(calls.get("tool_calls")) != pyjson.Array {
		return true
	}
	return slices.ContainsFunc(elements(calls.get("tool_calls")), func(e json.RawMessage) bool {
		o := parseObject(string(e))
		return kindOf(o.get("id")) != pyjson.String || o.index("function") >= 0 && kindOf(o.get("function")) != pyjson.Object
	})
}

// unhashable reports whether Python cannot look a value up.
func unhashable(raw string) bool {
	k := kindOf(raw)
	return k == pyjson.Array || k == pyjson.Object
}

// raises reports whether the reference may have failed on rows as it did. Ours
// never does.
func raises(f *fired, failed string, rows []string) bool {
	return failed == raised && slices.ContainsFunc(rows, odd) && !f.by(oddCalls)
}

// sliceRules are the rules about what is done with messages.
func sliceRules() []rule { return []rule{healthyAfter, oddCalls, rowsKept, toolBlocks} }

const (
	healthyAfter rule = "healthy-after"
	oddCalls     rule = "odd-calls"
	rowsKept     rule = "rows-kept"
	toolBlocks   rule = "tool-blocks"
)

// all are the rules that have made a difference so far.
func (f *fired) all() []rule {
	if f == nil {
		return nil
	}
	return f.rules
}
