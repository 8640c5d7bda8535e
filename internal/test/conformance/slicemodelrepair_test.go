package conformance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// troubles are a diagnosis. Ids are JSON; none is an id that is not there.
type troubles struct {
	orphaned, misplaced []string
	incomplete          []int
}

func (d troubles) healthy() bool {
	return len(d.orphaned)+len(d.misplaced)+len(d.incomplete) == 0
}

func (d troubles) broken(id string) bool {
	return slices.Contains(d.orphaned, id) || slices.Contains(d.misplaced, id)
}

// diagnosis looks for what is broken, each time through all rows.
func diagnosis(rows []seen) (d troubles) {
	var order []string
	use, answer := map[string]int{}, map[string]int{}
	for i, r := range rows {
		for _, c := range r.calls {
			if _, ok := use[c.id]; !ok {
				order = append(order, c.id)
			}
			use[c.id] = i
		}
		for _, id := range r.ids {
			answer[id] = i
		}
	}
	for _, id := range order {
		at, ok := answer[id]
		switch {
		case !ok:
			d.orphaned = append(d.orphaned, id)
		case use[id] < at && slices.ContainsFunc(rows[use[id]+1:at], func(r seen) bool { return r.speaks || r.role == "assistant" && !r.acts }):
			d.misplaced = append(d.misplaced, id)
		}
	}
	for _, id := range order {
		calls, last := rows[use[id]].calls, use[id]
		if calls[0].bare || calls[0].id != id || !slices.ContainsFunc(calls, func(c seenCall) bool { return !d.broken(c.id) }) {
			continue
		}
		for _, c := range calls {
			last = max(last, answer[c.id])
		}
		if last == use[id] || rows[last].speaks {
			continue
		}
		if last+1 == len(rows) || asks(rows[last+1]) {
			d.incomplete = append(d.incomplete, last)
		}
	}
	return d
}

func asks(r seen) bool { return r.speaks && !r.holds }

// text is the diagnosis as JSON; lines are the numbers of the rows.
func (d troubles) text(lines []int) string {
	modes, turns := []string{}, []string{}
	for i, n := range []int{len(d.orphaned), len(d.misplaced), len(d.incomplete)} {
		if n > 0 {
			modes = append(modes, text([]string{"missing_tool_results", "ordering_violation", "incomplete_assistant_turn"}[i]))
		}
	}
	for _, at := range d.incomplete {
		turns = append(turns, fmt.Sprintf(`{"after_line": %d, "after_index": %d, "missing": "assistant_response"}`, lines[at], at))
	}
	status, action := `"healthy"`, `"none"`
	if !d.healthy() {
		status, action = `"broken"`, `"repair"`
	}
	none := func(ids []string) []string {
		ids = slices.Clone(ids)
		for i, id := range ids {
			if id == "" {
				ids[i] = `""`
			}
		}
		return ids
	}
	return object{
		{"status", status},
		{"failure_modes", listOf(modes)},
		{"orphaned_tool_ids", listOf(none(d.orphaned))},
		{"misplaced_tool_ids", listOf(none(d.misplaced))},
		{"incomplete_turns", listOf(turns)},
		{"recommended_action", action},
	}.String()
}

const (
	repairedResult = `{"error": "unknown_error", "message": "Tool execution was interrupted and no result was captured."}`
	repairedAnswer = `{"role": "assistant", "content": [{"type": "text", "text": "The previous tool calls were interrupted. This response was automatically repaired."}]}`
)

// repairRows is one pass of a repair.
func repairRows(raw []string, v view, d troubles) (list []string) {
	count := 0
	if v.f != nil {
		raw = slices.Clone(raw)
		for i := range raw {
			raw[i] = withIDs(raw[i], &count)
		}
	}
	rows := v.all(raw)
	broken := func(c seenCall) bool {
		return d.broken(c.id) || count > 0 && strings.HasPrefix(stringOf(c.id), "repaired_")
	}
	left := make([]string, len(rows)) // empty: the row goes
	for i, r := range rows {
		left[i] = r.without(raw[i], d.misplaced)
	}
	for i, r := range rows {
		if left[i] == "" {
			continue
		}
		list = append(list, left[i])
		all := len(r.calls) > 0
		for _, c := range r.calls {
			if !broken(c) {
				all = false
				continue
			}
			list = append(list, render(object{
				{"role", `"tool"`}, {"tool_call_id", c.id}, {"name", cmp.Or(c.tool, text(""))}, {"content", text(repairedResult)},
			}.String(), pyjson.Style{ASCII: true}))
		}
		next := i + 1
		for next < len(rows) && left[next] == "" {
			next++
		}
		if all && (next == len(rows) || asks(rows[next])) || slices.Contains(d.incomplete, i) {
			list = append(list, repairedAnswer)
		}
	}
	return list
}

// without is a row without results of some calls.
func (s seen) without(raw string, ids []string) string {
	if !slices.ContainsFunc(s.ids, func(id string) bool { return slices.Contains(ids, id) }) {
		return raw
	}
	if !s.holds {
		return ""
	}
	kept := slices.DeleteFunc(elementsOf(s.get("content")), func(e string) bool {
		o := parseObject(e)
		return stringOf(o.get("type")) == "tool_result" && (slices.Contains(ids, o.get("tool_use_id")) || slices.Contains(ids, o.get("tool_call_id")))
	})
	if len(kept) == 0 {
		return ""
	}
	return s.with("content", listOf(kept)).String()
}

// withIDs gives an id to calls that have none.
func withIDs(raw string, count *int) string {
	o := parseObject(raw)
	if stringOf(o.get("role")) != "assistant" {
		return raw
	}
	for _, name := range []string{"tool_calls", "content"} {
		if kindOf(o.get(name)) != pyjson.Array {
			continue
		}
		list := elementsOf(o.get(name))
		for i, e := range list {
			call := parseObject(e)
			if kindOf(e) != pyjson.Object || kindOf(call.get("id")) == pyjson.String || name == "content" && stringOf(call.get("type")) != "tool_use" {
				continue
			}
			*count++
			list[i] = call.with("id", text(fmt.Sprintf("repaired_%d", *count))).String()
		}
		if o.index(name) >= 0 {
			o = o.with(name, listOf(list))
		}
	}
	return o.String()
}

// rewindRows is how many rows one pass of rewinding leaves.
func rewindRows(rows []seen, d troubles) int {
	first := len(rows)
	for i, r := range rows {
		for _, c := range r.calls {
			again := slices.ContainsFunc(rows[i+1:], func(r seen) bool {
				return slices.ContainsFunc(r.calls, func(o seenCall) bool { return o.id == c.id })
			})
			if d.broken(c.id) && !again {
				first = min(first, i)
			}
		}
	}
	for _, at := range d.incomplete {
		for at > 0 && !(rows[at].role == "assistant" && rows[at].acts) {
			at--
		}
		first = min(first, at)
	}
	for first--; first > 0; first-- {
		if asks(rows[first]) {
			return first
		}
	}
	return 0
}
