package conformance

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/slice"
)

const (
	forkedResult = `{"error": "Tool execution interrupted by session fork", "forked": true, ` +
		`"message": "This tool call was in progress when the session was forked. The result is not available in this forked session."}`
	forkedAnswer = "The previous tool calls were interrupted by a session fork. Results are not available in this forked session."
)

// cut is the model of cutting after a turn that is there.
func cut(raw []string, turn int, mode string, f *fired) sliced {
	v := view{f: f}
	rows := v.all(raw)
	at := append(starts(rows), len(rows))
	switch last := len(at) - 1; {
	case turn < 1:
		return sliced{Failed: fmt.Sprintf("Turn must be >= 1, got %d", turn)}
	case last == 0:
		return sliced{Failed: "No user messages found in conversation"}
	case turn > last:
		return sliced{Failed: fmt.Sprintf("Turn %d exceeds max turns (%d). Valid range: 1-%d", turn, last, last)}
	}
	raw, rows = raw[:at[turn]], rows[:at[turn]]
	ids := orphans(rows)
	switch {
	case len(ids) == 0:
		return sliced{Rows: slices.Clone(raw)}
	case mode == "complete":
		return sliced{Rows: completed(raw, rows, ids, f)}
	case mode == "remove":
		return sliced{Rows: removed(raw, rows, ids, f)}
	case mode == "error":
		return sliced{Failed: "Orphaned tool calls at fork boundary: " + pythonShown(listOf(ids)) + ". These tool_use blocks have no matching tool_result."}
	}
	return sliced{Failed: "Unknown handle_orphaned_tools value: '" + mode + "'. Expected 'complete', 'remove', or 'error'."}
}

func completed(raw []string, rows []seen, ids []string, f *fired) (list []string) {
	names := map[string]string{}
	for _, r := range rows {
		for _, c := range r.calls {
			if c.function != "" && truthy(c.function) && c.id != "" && truthy(c.id) {
				names[c.id] = c.function
			}
		}
	}
	for i, r := range rows {
		list = append(list, raw[i])
		before := len(list)
		for _, c := range r.calls {
			if c.id == "" && slices.Contains(ids, text("")) && !f.by(oddCalls) {
				c.id = text("") // the reference's own, where there is none
			}
			if !slices.Contains(ids, c.id) {
				continue
			}
			row := object{{"role", `"tool"`}, {"tool_call_id", c.id}, {"content", text(forkedResult)}}
			if names[c.id] != "" {
				row = row.with("name", names[c.id])
			}
			list = append(list, render(row.String(), pyjson.Style{ASCII: true}))
		}
		if len(list) > before && i+1 < len(rows) && rows[i+1].begins {
			list = append(list, object{{"role", `"assistant"`}, {"content", text(forkedAnswer)}}.String())
		}
	}
	return list
}

func removed(raw []string, rows []seen, ids []string, f *fired) (list []string) {
	for i, r := range rows {
		if r.role != "assistant" {
			list = append(list, raw[i])
			continue
		}
		o := r.object
		if kindOf(o.get("tool_calls")) == pyjson.Array {
			kept := slices.DeleteFunc(elementsOf(o.get("tool_calls")), func(e string) bool { return slices.Contains(ids, parseObject(e).get("id")) })
			o = o.with("tool_calls", listOf(kept))
			if len(kept) == 0 {
				o = o.lacking("tool_calls")
			}
		}
		if calls := o.get("tool_calls"); (calls == "{}" || calls == text("")) && !f.by(oddCalls) {
			o = o.lacking("tool_calls") // an empty one of any kind
		}
		if kindOf(o.get("content")) == pyjson.Array {
			o = o.with("content", listOf(slices.DeleteFunc(elementsOf(o.get("content")), func(e string) bool {
				block := parseObject(e)
				return stringOf(block.get("type")) == "tool_use" && slices.Contains(ids, block.get("id"))
			})))
		}
		list = append(list, o.String())
	}
	return list
}

func (o object) lacking(name string) object {
	return slices.DeleteFunc(slices.Clone(o), func(m member) bool { return m.name == name })
}

func elementsOf(raw string) []string  { return texts(elements(raw)) }
func listOf(elements []string) string { return "[" + strings.Join(elements, ", ") + "]" }

// summary is the model of summing up.
func summary(raw []string, turn, limit int, f *fired) (s summed) {
	rows := view{f: f}.all(raw)
	at := append(starts(rows), len(rows))
	if turn < 1 || turn >= len(at) {
		s.Failed = fmt.Sprintf("Turn %d out of range (1-%d)", turn, len(at)-1)
		return s
	}
	s.TurnSummary = slice.TurnSummary{Turn: turn, Messages: at[turn] - at[turn-1]}
	for _, r := range rows[at[turn-1]:at[turn]] {
		all := r.texts(limit)
		switch {
		case r.role == "user" && len(all) > 0:
			s.User = all[0]
		case r.role == "assistant":
			s.Tools += len(r.blocks("tool_use"))
			s.Tools += r.lengthOfCalls(f)
			for _, text := range all {
				if s.Assistant == "" {
					s.Assistant = text
				}
			}
			both := 0
			for _, block := range r.blocks("tool_use") {
				if kindOf(r.get("tool_calls")) == pyjson.Array && slices.ContainsFunc(elementsOf(r.get("tool_calls")), func(e string) bool {
					return parseObject(e).get("id") == block.get("id") && kindOf(block.get("id")) == pyjson.String
				}) {
					both++
				}
			}
			if both > 0 && f.by(toolBlocks) {
				s.Tools -= both
			}
		}
	}
	return s
}

// lengthOfCalls is Python's len of tool_calls, whatever they are.
func (s seen) lengthOfCalls(f *fired) int {
	switch raw := s.get("tool_calls"); {
	case kindOf(raw) == pyjson.Array:
		return len(elements(raw))
	case kindOf(raw) == pyjson.Object && !f.by(oddCalls):
		return len(parseObject(raw))
	case kindOf(raw) == pyjson.String && !f.by(oddCalls):
		return utf8.RuneCountInString(stringOf(raw))
	}
	return 0
}

// texts are the cut texts of a message.
func (s seen) texts(limit int) (list []string) {
	add := func(raw string) {
		text := pyjson.Text([]byte(raw))
		if kindOf(raw) != pyjson.String {
			text = ""
		}
		if utf8.RuneCountInString(text) > limit {
			text = string([]rune(text)[:limit]) + "..."
		}
		list = append(list, text)
	}
	if kindOf(s.get("content")) == pyjson.String {
		add(s.get("content"))
	}
	for _, block := range s.blocks("text") {
		add(block.get("text"))
	}
	return list
}
