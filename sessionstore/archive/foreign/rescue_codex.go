package foreign

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// codexRescuer knows the lines of Codex. Each follows the line before it.
type codexRescuer struct{}

func (codexRescuer) isRecord(raw []byte) bool {
	m := thread.Members(raw, "type", "payload", "timestamp")
	return m[0] != nil && m[1] != nil && m[2] != nil
}

// metaID returns the id of the session that a line begins, "" for another line.
func metaID(raw []byte) string {
	m := thread.Members(raw, "type", "payload", "id", "timestamp")
	switch {
	case thread.Text(m[0]) == "session_meta":
		return get(m[1], "id")
	case m[0] == nil && m[3] != nil: // as old versions began
		return thread.Text(m[2])
	}
	return ""
}

func (codexRescuer) id(lines []line) string {
	i := slices.IndexFunc(lines, func(l line) bool { return metaID(l.raw) != "" })
	if i < 0 {
		return ""
	}
	return thread.ID(metaID(lines[i].raw))
}

// number returns the number that a newer version gives a line, -1 where it has none.
func number(raw []byte) int64 {
	if n, ok := pyjson.Int(thread.Members(raw, "ordinal")[0]); ok {
		return n
	}
	return -1
}

// order puts the line that says which session it is first, and lines with numbers in the order
// of these.
func (codexRescuer) order(lines []line, _ func(string) bool) (ordered []line, faults []Fault) {
	ordered = slices.Clone(lines)
	most := int64(-1)
	for _, l := range lines {
		n := number(l.raw)
		if n >= 0 && n < most {
			faults = append(faults, Fault{Kind: "wrong_order", Line: l.n, Mend: "moved"})
		}
		most = max(most, n)
	}
	if len(faults) > 0 {
		slices.SortStableFunc(ordered, func(a, b line) int { return cmp.Compare(number(a.raw), number(b.raw)) })
	}
	switch i := slices.IndexFunc(ordered, func(l line) bool { return metaID(l.raw) != "" }); {
	case len(ordered) == 0 || i == 0:
	case i > 0:
		head := ordered[i]
		ordered = slices.Insert(slices.Delete(ordered, i, i+1), 0, head)
		faults = append(faults, Fault{Kind: "wrong_order", Line: head.n, Mend: "moved"})
	default:
		ordered = slices.Insert(ordered, 0, line{raw: headLike(ordered)})
		faults = append(faults, Fault{Kind: "missing_head", Line: 1, Mend: "made"})
	}
	return ordered, faults
}

// headLike returns the first line of a session that has lines without it.
func headLike(lines []line) []byte {
	about, first := thread.About{Dir: "/", Began: time.Unix(0, 0)}, int64(-1)
	for _, l := range slices.Backward(lines) { // the first one counts
		if at, err := time.Parse(time.RFC3339, get(l.raw, "timestamp")); err == nil {
			about.Began = at
		}
		if n := number(l.raw); n >= 0 {
			first = n
		}
		about.Dir = cmp.Or(get(thread.Members(l.raw, "payload")[0], "cwd"), about.Dir)
	}
	about.Home, _ = Home(Codex)
	var b bytes.Buffer
	w := &thread.LineWriter{Out: bufio.NewWriter(&b)}
	_ = errors.Join(programs[string(Codex)].Maker(w, about).Begin(), w.Flush()) // they go to memory
	head := bytes.TrimSpace(b.Bytes())
	if first >= 0 {
		payload := pyjson.Splice(thread.Members(head, "payload")[0], "history_mode", quoted("paginated"))
		head = pyjson.Splice(pyjson.Splice(head, "payload", payload), "ordinal", fmt.Appendf(nil, "%d", max(0, first-1)))
	}
	return head
}

// itemAt returns the item that a record is, nil for another one, and the kind of its line.
func itemAt(raw []byte, nth int) (item []byte, kind string) {
	m := thread.Members(raw, "type", "payload")
	switch kind = thread.Text(m[0]); {
	case kind == "response_item" && nth == 0:
		return m[1], kind
	case kind == "compacted" && nth > 0:
		n := 0
		for item := range pyjson.Elements(thread.Members(m[1], "replacement_history")[0]) {
			if n++; n == nth {
				return item, kind
			}
		}
	case m[1] == nil && kind != "" && nth == 0: // as old versions wrote it
		return raw, ""
	}
	return nil, kind
}

func (codexRescuer) sent(f *thread.File, lines []line) (all []sent) {
	for _, at := range f.Line(thread.ActiveLine) {
		of := spot{int(f.Table.Line(at)), f.Table.Nth(at)}
		item, _ := itemAt(lines[of.line].raw, of.nth)
		all = append(all, sentItem(of, item))
	}
	return all
}

// sentItem returns the message of an item.
func sentItem(of spot, item []byte) sent {
	m := thread.Members(item, "role", "content", "call_id", "output")
	here, called := []spot{of}, quoted(thread.Text(m[2]))
	switch kind := get(item, "type"); kind {
	case "message":
		role := thread.Text(m[0])
		if role == "tool" {
			role = "" // a message is no result
		}
		content := cmp.Or(string(m[1]), "[]")
		if pyjson.KindOf(m[1]) == pyjson.Array {
			var parts [][]byte
			for b := range pyjson.Elements(m[1]) {
				switch get(b, "type") {
				case partOf(role):
					b = pyjson.Splice(b, "type", []byte(`"text"`))
				case "text", "input_text", "output_text":
					b = pyjson.Splice(b, "type", []byte(`"of another role"`))
				}
				parts = append(parts, b)
			}
			content = string(pyjson.ArrayOf(parts))
		}
		return message(here, fmt.Sprintf(`{"role":%s,"content":%s}`, quoted(role), content))
	case "function_call", "custom_tool_call", "local_shell_call":
		name, arguments := get(item, "name"), cmp.Or(get(item, "arguments"), "{}")
		if kind == "local_shell_call" {
			name = "shell"
		}
		return message(here, fmt.Sprintf(`{"role":"assistant","content":"","tool_calls":[{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}]}`,
			called, quoted(name), quoted(arguments)))
	case "function_call_output", "custom_tool_call_output":
		said := cmp.Or(string(m[3]), `""`)
		if pyjson.KindOf(m[3]) == pyjson.Object {
			said = `""` // as old versions wrote it: it has a text
		}
		return message(here, fmt.Sprintf(`{"role":"tool","tool_call_id":%s,"content":%s}`, called, said))
	}
	return sent{of: here, quiet: true}
}

// partOf returns the kind of the texts in messages of a role.
func partOf(role string) string {
	if role == "assistant" {
		return "output_text"
	}
	return "input_text"
}

// itemSaying returns an item that says what a message does.
func itemSaying(item []byte, m sessionstore.Message) []byte {
	kind := get(item, "type")
	switch {
	case kind == "message":
		part := partOf(m.Role())
		var parts [][]byte
		for b := range pyjson.Elements(contentOf(m, part)) {
			if get(b, "type") == "text" {
				b = pyjson.Splice(b, "type", quoted(part))
			}
			parts = append(parts, b)
		}
		return pyjson.Splice(pyjson.Splice(item, "role", quoted(m.Role())), "content", pyjson.ArrayOf(parts))
	case strings.HasSuffix(kind, "_output"):
		raw, _ := m.Lookup("content")
		var parts [][]byte
		for b := range pyjson.Elements(raw) {
			if get(b, "type") == "text" {
				b = pyjson.Splice(b, "type", quoted("input_text"))
			}
			parts = append(parts, b)
		}
		if parts != nil {
			raw = pyjson.ArrayOf(parts)
		}
		return pyjson.Splice(pyjson.Splice(item, "call_id", quoted(m.ToolCallID())), "output", raw)
	}
	for _, c := range m.ToolCalls() {
		item = pyjson.Splice(item, "call_id", quoted(c.ID))
		if thread.Members(item, "name")[0] != nil {
			item = pyjson.Splice(item, "name", quoted(c.Name))
		}
		if kind == "function_call" {
			item = pyjson.Splice(item, "arguments", quoted(string(thread.Input(c.Arguments))))
		}
	}
	return item
}

// outputs are the items made for messages that are inserted: results of calls.
func outputs(after []sessionstore.Message, kinds map[string]string) (items [][]byte) {
	for _, m := range after {
		kind := "function_call_output"
		if kinds[m.ToolCallID()] == "custom_tool_call" {
			kind = "custom_tool_call_output"
		}
		item := fmt.Appendf(nil, `{"type":%s,"call_id":"","output":""}`, quoted(kind))
		items = append(items, itemSaying(item, m))
	}
	return items
}

func (codexRescuer) apply(lines []line, all []sent, moved bool) (made []line) {
	bySpot, kinds := map[spot]*sent{}, map[string]string{}
	for i, s := range all {
		bySpot[s.of[0]] = &all[i]
		item, _ := itemAt(lines[s.of[0].line].raw, s.of[0].nth)
		if kind := get(item, "type"); strings.HasSuffix(kind, "_call") {
			kinds[get(item, "call_id")] = kind
		}
	}
	mended := func(of spot, item []byte) (items [][]byte) {
		s := bySpot[of]
		switch {
		case s == nil:
			return [][]byte{item}
		case s.change == "replaced":
			items = [][]byte{itemSaying(item, s.msg)}
		case s.change == "":
			items = [][]byte{item}
		}
		return append(items, outputs(s.after, kinds)...)
	}
	for i, l := range lines {
		item, kind := itemAt(l.raw, 0)
		payload := thread.Members(l.raw, "payload")[0]
		switch {
		case item != nil:
			for n, it := range mended(spot{i, 0}, item) {
				raw := it
				if kind != "" {
					raw = pyjson.Splice(l.raw, "payload", it)
				}
				made = append(made, line{l.n * max(0, 1-n), raw})
			}
		case kind == "compacted" && thread.Members(payload, "replacement_history")[0] != nil:
			var items [][]byte
			changed, n := false, 0
			for it := range pyjson.Elements(thread.Members(payload, "replacement_history")[0]) {
				n++
				now := mended(spot{i, n}, it)
				changed = changed || len(now) != 1 || !bytes.Equal(now[0], it)
				items = append(items, now...)
			}
			if changed {
				l.raw = pyjson.Splice(l.raw, "payload", pyjson.Splice(payload, "replacement_history", pyjson.ArrayOf(items)))
			}
			made = append(made, l)
		default:
			made = append(made, l)
		}
	}
	return made
}

// rename gives the lines the new id of the session, and numbers without gaps.
func (codexRescuer) rename(lines []line, from, to string) []line {
	ids := map[string]string{from: to}
	first := int64(-1)
	for i, l := range lines {
		raw := l.raw
		switch kind := get(raw, "type"); {
		case i == 0:
			if p := thread.Members(raw, "payload")[0]; kind == "session_meta" {
				p = pyjson.Splice(p, "id", quoted(to))
				if thread.Members(p, "session_id")[0] != nil {
					p = pyjson.Splice(p, "session_id", quoted(to))
				}
				raw = pyjson.Splice(raw, "payload", p)
			} else {
				raw = pyjson.Splice(raw, "id", quoted(to))
			}
			first = number(raw)
		case kind == "session_meta" && metaID(raw) != "" && thread.ID(metaID(raw)) != from: // of the session that it was forked from
		case kind != "response_item" && kind != "compacted":
			raw = renameIn(raw, "", ids)
		}
		if first >= 0 && number(raw) != first+int64(i) {
			raw = pyjson.Splice(raw, "ordinal", fmt.Appendf(nil, "%d", first+int64(i)))
		}
		lines[i].raw = raw
	}
	return lines
}

var rolloutTime = regexp.MustCompile(`^rollout-(\d{4})-(\d{2})-(\d{2})T\d{2}-\d{2}-\d{2}`)

func (codexRescuer) path(home string, _ History, lines []line, id string) string {
	at := noFolderName.ReplaceAllString(get(lines[0].raw, "timestamp"), "-")
	name := "rollout-1970-01-01T00-00-00"
	if len(at) >= len("2006-01-02T15-04-05") && rolloutTime.MatchString("rollout-"+at) {
		name = "rollout-" + at[:len("2006-01-02T15-04-05")]
	}
	day := rolloutTime.FindStringSubmatch(name)
	return filepath.Join(home, "sessions", day[1], day[2], day[3], name+"-"+id+thread.HistorySuffix)
}
