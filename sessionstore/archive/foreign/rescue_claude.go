package foreign

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// claudeRescuer knows the lines of Claude Code. Each names the line that it follows.
type claudeRescuer struct{}

// get returns a member of an object that is a string.
func get(raw []byte, name string) string { return thread.Text(thread.Members(raw, name)[0]) }

func quoted(s string) []byte { return pyjson.Quote(s) }

func (claudeRescuer) isRecord(raw []byte) bool {
	m := thread.Members(raw, "type", "sessionId", "summary", "snapshot")
	return m[0] != nil && (m[1] != nil || m[2] != nil || m[3] != nil)
}

func (claudeRescuer) id([]line) string { return "" }

// inTree reports whether a line follows others, and others follow it.
func inTree(raw []byte) bool {
	switch get(raw, "type") {
	case "user", "assistant", "progress", "system", "attachment":
		return get(raw, "uuid") != ""
	}
	return false
}

// order moves each line after the one that it follows. A line that follows one which is nowhere
// follows the one before it.
func (claudeRescuer) order(lines []line, elsewhere func(uuid string) bool) (ordered []line, faults []Fault) {
	at := map[string]int{} // the first line with a uuid
	for i, l := range slices.Backward(lines) {
		if inTree(l.raw) {
			at[thread.ID(get(l.raw, "uuid"))] = i
		}
	}
	waiting, done := map[int][]int{}, make([]bool, len(lines))
	last := map[bool]string{}
	emit := func(i int) {
		for todo := []int{i}; len(todo) > 0; todo = todo[1:] {
			i := todo[0]
			if done[i] {
				continue
			}
			done[i], ordered = true, append(ordered, lines[i])
			if raw := lines[i].raw; inTree(raw) {
				last[thread.IsTrue(thread.Members(raw, "isSidechain")[0])] = get(raw, "uuid")
			}
			todo = append(todo, waiting[i]...)
		}
	}
	for i := range lines {
		l := &lines[i]
		m := thread.Members(l.raw, "parentUuid", "isSidechain", "uuid")
		parent := thread.ID(thread.Text(m[0]))
		p, known := at[parent]
		before := last[thread.IsTrue(m[1])]
		switch {
		case parent == "" || !inTree(l.raw) || parent == thread.ID(thread.Text(m[2])):
		case known && p > i && !follows(lines, at, p, i):
			waiting[p] = append(waiting[p], i)
			if l.n > 0 {
				faults = append(faults, Fault{Kind: "wrong_order", Line: l.n, Mend: "moved"})
			}
			continue
		case !known && before != "" && !elsewhere(parent):
			l.raw = pyjson.Splice(l.raw, "parentUuid", quoted(before))
			faults = append(faults, Fault{Kind: "missing_parent", Line: l.n, Mend: "relinked"})
		}
		emit(i)
	}
	for i := range lines { // what waits for a line that waits itself
		if !done[i] {
			emit(i)
		}
	}
	return ordered, faults
}

// follows reports whether the parents of a line lead to another one, in no more steps than
// there are lines.
func follows(lines []line, at map[string]int, from, to int) bool {
	for range lines {
		next, known := at[thread.ID(get(lines[from].raw, "parentUuid"))]
		if from = next; !known || from == to {
			return known
		}
	}
	return true
}

// sent returns the messages that the tool would send: the parts of a response are one, and its
// results follow it.
func (claudeRescuer) sent(f *thread.File, lines []line) (all []sent) {
	parts, results := map[string][]int{}, map[string]int{} // of a response, of a call
	for i, l := range lines {
		if thread.IsTrue(thread.Members(l.raw, "isSidechain")[0]) {
			continue
		}
		m := thread.Members(thread.Members(l.raw, "message")[0], "id", "content")
		switch get(l.raw, "type") {
		case "assistant":
			parts[thread.Text(m[0])] = append(parts[thread.Text(m[0])], i)
		case "user":
			for b := range pyjson.Elements(m[1]) {
				if id := get(b, "tool_use_id"); id != "" {
					results[id] = i
				}
			}
		}
	}
	var chain []int
	onChain, taken := map[int]bool{}, map[int]bool{}
	for _, at := range f.Line(thread.ActiveLine) {
		i := int(f.Table.Line(at))
		chain, onChain[i] = append(chain, i), true
	}
	begin := 0 // of the messages since the last answer
	for _, i := range chain {
		if taken[i] {
			continue
		}
		raw := lines[i].raw
		m := thread.Members(thread.Members(raw, "message")[0], "id", "content")
		hidden := thread.IsTrue(thread.Members(raw, "isVisibleInTranscriptOnly")[0]) || thread.IsTrue(thread.Members(raw, "isApiErrorMessage")[0])
		switch kind := get(raw, "type"); {
		case hidden || kind != "user" && kind != "assistant":
			s := sent{of: []spot{{line: i}}, quiet: true}
			if prompt := thread.Members(thread.Members(raw, "attachment")[0], "prompt")[0]; pyjson.KindOf(prompt) == pyjson.Array {
				s = message(s.of, `{"role":"user","content":`+string(prompt)+`}`)
			}
			all = append(all, s)
		case kind == "user":
			s := message([]spot{{line: i}}, `{"role":"user","content":`+cmp.Or(string(m[1]), `""`)+`}`)
			if _, list := s.msg.Lookup("content"); list && strings.Contains(string(m[1]), `"tool_use_id"`) { // the tool sends results first
				for ; begin < len(all) && strings.Contains(string(all[begin].msg.AppendTo(nil)), `"tool_use_id"`); begin++ {
				}
				all = slices.Insert(all, begin, s)
				begin++
				continue
			}
			all = append(all, s)
		default:
			s, content, calls := sent{}, [][]byte(nil), []string(nil)
			group := parts[thread.Text(m[0])]
			if thread.Text(m[0]) == "" {
				group = []int{i}
			}
			said := map[string]bool{}
			for _, k := range group {
				uuid := get(lines[k].raw, "uuid")
				if taken[k] || said[uuid] {
					continue
				}
				taken[k], said[uuid] = true, true
				s.of = append(s.of, spot{line: k})
				raw := thread.Members(thread.Members(lines[k].raw, "message")[0], "content")[0]
				if pyjson.KindOf(raw) == pyjson.String {
					content = append(content, []byte(`{"type":"text","text":`+string(raw)+`}`))
				}
				for b := range pyjson.Elements(raw) {
					if input := thread.Members(b, "input")[0]; get(b, "type") == "tool_use" && isNoObject(input) {
						b = pyjson.Splice(b, "input", fmt.Appendf(nil, "[%s]", cmp.Or(string(input), "null"))) // else it may pass for one
					}
					content = append(content, b)
					if get(b, "type") == "tool_use" {
						calls = append(calls, get(b, "id"))
					}
				}
			}
			all = append(all, message(s.of, `{"role":"assistant","content":`+string(pyjson.ArrayOf(content))+`}`))
			begin = len(all)
			for _, id := range calls { // results beside the conversation, as of calls at once
				if k, found := results[id]; found && !onChain[k] && !taken[k] {
					taken[k] = true
					content := thread.Members(thread.Members(lines[k].raw, "message")[0], "content")[0]
					all = append(all, message([]spot{{line: k}}, `{"role":"user","content":`+string(content)+`}`))
					begin = len(all)
				}
			}
		}
	}
	return all
}

// apply makes the lines of a conversation as it was judged.
func (claudeRescuer) apply(lines []line, all []sent, moved bool) []line {
	gone, behind := map[int]bool{}, map[int][]line{}
	parent, first := "", true
	link := func(raw []byte) []byte { // to the line before on the conversation
		was, uuid := get(raw, "parentUuid"), get(raw, "uuid")
		if moved && !first && was != parent {
			raw = pyjson.Splice(raw, "parentUuid", quoted(parent))
		}
		parent, first = uuid, false
		return raw
	}
	for _, s := range all {
		last := s.of[len(s.of)-1].line
		for i, of := range s.of {
			raw := lines[of.line].raw
			switch {
			case s.change != "" && (s.change != "replaced" || i > 0):
				gone[of.line] = true
				continue
			case s.change != "":
				raw = say(raw, s.msg)
			}
			lines[of.line].raw = link(raw)
		}
		for n, m := range s.after {
			raw := link(lineLike(lines[last].raw, m, n))
			behind[last] = append(behind[last], line{raw: raw})
		}
	}
	follows := map[string]string{} // by a line that is gone: the one before it
	var made []line
	for i, l := range lines {
		if gone[i] {
			follows[get(l.raw, "uuid")] = get(l.raw, "parentUuid")
		} else {
			made = append(made, l)
		}
		made = append(made, behind[i]...)
	}
	for i := range made { // lines beside the conversation may follow one that is gone
		p := get(made[i].raw, "parentUuid")
		was := p
		for n := 0; n <= len(follows); n++ {
			next, dropped := follows[p]
			if !dropped {
				break
			}
			p = next
		}
		if p != was {
			made[i].raw = pyjson.Splice(made[i].raw, "parentUuid", quoted(p))
		}
	}
	made, _ = claudeRescuer{}.order(made, func(string) bool { return true })
	return made
}

// isNoObject reports whether arguments are a text, which may be an object's, or none.
func isNoObject(input []byte) bool {
	switch pyjson.KindOf(input) {
	case pyjson.String, pyjson.Null, pyjson.Invalid:
		return true
	}
	return false
}

// say returns a line that says what a message does.
func say(raw []byte, m sessionstore.Message) []byte {
	var blocks [][]byte
	for b := range pyjson.Elements(contentOf(m, "text")) {
		for text := range pyjson.Elements(thread.Members(thread.Members(b, "input")[0], "arguments")[0]) {
			if get(b, "type") == "tool_use" && isNoObject(text) {
				b = pyjson.Splice(b, "input", thread.Input([]byte(thread.Text(text))))
			}
		}
		blocks = append(blocks, b)
	}
	content := pyjson.ArrayOf(blocks)
	if a := thread.Members(raw, "attachment")[0]; get(raw, "type") == "attachment" {
		return pyjson.Splice(raw, "attachment", pyjson.Splice(a, "prompt", content))
	}
	return pyjson.Splice(raw, "message", pyjson.Splice(thread.Members(raw, "message")[0], "content", content))
}

// lineLike returns a line for a message that is inserted after another line, the nth of them.
func lineLike(raw []byte, m sessionstore.Message, n int) []byte {
	content := contentOf(m, "text")
	if m.Role() == "tool" {
		said, _ := m.Lookup("content")
		content = fmt.Appendf(nil, `[{"type":"tool_result","tool_use_id":%s,"content":%s,"is_error":true}]`, quoted(m.ToolCallID()), said)
	}
	made := fmt.Appendf(nil, `{"parentUuid":%s,"isSidechain":false`, quoted(get(raw, "uuid")))
	for _, name := range []string{"userType", "cwd", "sessionId", "version", "gitBranch", "timestamp"} {
		if v := thread.Members(raw, name)[0]; v != nil {
			made = append(fmt.Appendf(made, ",%q:", name), v...)
		}
	}
	uuid := thread.UUID5("claude", fmt.Sprintf("rescued/%s/%d", get(raw, "uuid"), n))
	return fmt.Appendf(made, `,"type":"user","message":{"role":"user","content":%s},"uuid":%s}`, content, quoted(uuid))
}

var stringForm = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// rename gives the lines the new id of the session, and each record a new uuid.
func (claudeRescuer) rename(lines []line, from, to string) []line {
	ids := map[string]string{from: to}
	for _, l := range lines {
		for _, name := range []string{"uuid", "messageId"} {
			if id := thread.ID(get(l.raw, name)); id != "" {
				ids[id] = thread.UUID5("claude", to+"/"+id)
			}
		}
	}
	for i := range lines {
		raw := lines[i].raw
		if thread.Members(raw, "sessionId")[0] != nil {
			raw = pyjson.Splice(raw, "sessionId", quoted(to))
		}
		lines[i].raw = renameIn(raw, "message", ids)
	}
	return lines
}

// renameIn replaces ids in an object, but not in one of its members.
func renameIn(raw []byte, but string, ids map[string]string) []byte {
	made, at := []byte(nil), 0
	replace := func(b []byte) []byte {
		return stringForm.ReplaceAllFunc(b, func(s []byte) []byte {
			if id, known := ids[thread.ID(string(s[1:len(s)-1]))]; known {
				return quoted(id)
			}
			return s
		})
	}
	for m := range pyjson.Members(raw) {
		if end := m.ValueAt + len(m.Value); pyjson.KeyIs(m.Key, but) {
			made = append(append(made, replace(raw[at:m.ValueAt])...), m.Value...)
			at = end
		}
	}
	return append(made, replace(raw[at:])...)
}

var noFolderName = regexp.MustCompile(`[^A-Za-z0-9]`)

func (claudeRescuer) path(home string, h History, lines []line, id string) string {
	dir := filepath.Dir(h.Path)
	if projects := filepath.Join(home, "projects"); filepath.Dir(dir) != projects {
		folder := ""
		for _, l := range lines {
			folder = cmp.Or(folder, get(l.raw, "cwd"))
		}
		dir = filepath.Join(projects, cmp.Or(noFolderName.ReplaceAllString(folder, "-"), "-rescued"))
	}
	return filepath.Join(dir, id+thread.HistorySuffix)
}
