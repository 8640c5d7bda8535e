package conformance

import (
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// seen is a message as the reference sees it, and by our rules.
type seen struct {
	object
	role   string
	begins bool // a turn
	speaks bool // it is a real user message
	acts   bool // it does not stand between calls and results
	holds  bool // of its blocks, some are results
	calls  []seenCall
	ids    []string // of calls that it answers, as JSON
}

// seenCall is a call. Its id is JSON, empty where there is none.
type seenCall struct {
	id, function, tool string // names are JSON too, empty where there is none
	bare               bool   // the reference's diagnosis took "" for an id that is missing
}

// view is for whom messages are looked at: the reference's cutting sees calls
// in blocks, its diagnosis does not.
type view struct {
	f         *fired
	diagnosis bool
}

func (v view) all(raw []string) (rows []seen) {
	for _, r := range raw {
		rows = append(rows, v.see(r))
	}
	return rows
}

func (v view) see(raw string) seen {
	s := seen{object: parseObject(raw)}
	s.role = stringOf(s.get("role"))
	switch s.role {
	case "assistant":
		v.assistant(&s)
	case "user":
		v.user(&s)
	case "tool":
		if s.index("tool_call_id") >= 0 {
			s.ids = v.ids(s.get("tool_call_id"))
		}
	}
	return s
}

// stringOf is the text of a JSON string, or nothing.
func stringOf(raw string) string {
	if kindOf(raw) != pyjson.String {
		return ""
	}
	return string(pyjson.AppendText(nil, []byte(raw)))
}

// ids is the list of one id, unless it is none for us.
func (v view) ids(raw string) []string {
	if kindOf(raw) != pyjson.String && v.f.by(oddCalls) {
		return nil
	}
	return []string{raw}
}

func (v view) assistant(s *seen) {
	s.acts = s.index("tool_calls") >= 0
	if kindOf(s.get("tool_calls")) == pyjson.Array {
		for _, e := range elements(s.get("tool_calls")) {
			if kindOf(string(e)) == pyjson.Object {
				s.calls = append(s.calls, v.listed(parseObject(string(e))))
			}
		}
	}
	listed := s.calls
	for _, block := range s.blocks("tool_use") {
		if v.diagnosis && !v.f.by(toolBlocks) {
			return
		}
		s.acts = true
		name := v.name(block, "name")
		c := seenCall{function: name, tool: name}
		if block.index("id") >= 0 {
			c.id = first(v.ids(block.get("id")))
		}
		at := lastOf(listed, c.id)
		if at >= 0 && v.f.by(toolBlocks) {
			if c.function != "" && truthy(c.function) {
				s.calls[at].function = c.function
			}
			continue
		}
		s.calls = append(s.calls, c)
	}
}

// lastOf is the last of the calls with that id, -1 without one.
func lastOf(calls []seenCall, id string) int {
	at := -1
	for i, c := range calls {
		if id != "" && c.id == id {
			at = i
		}
	}
	return at
}

func first(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return ids[0]
}

func (v view) listed(o object) (c seenCall) {
	switch {
	case o.index("id") >= 0:
		c.id = first(v.ids(o.get("id")))
	case v.diagnosis && !v.f.by(oddCalls):
		c.id, c.bare = text(""), true
	}
	inner := v.name(parseObject(o.get("function")), "name")
	c.tool = inner
	if o.index("tool") >= 0 {
		c.tool = v.name(o, "tool")
	}
	c.function = inner
	if inner == "" || !truthy(inner) {
		c.function = v.name(o, "name")
	}
	return c
}

// name is a member with the name of a tool. What is no text is none for us.
func (v view) name(o object, member string) string {
	if o.index(member) < 0 || kindOf(o.get(member)) != pyjson.String && v.f.by(oddCalls) {
		return ""
	}
	return o.get(member)
}

// blocks are the blocks of content of one type.
func (s seen) blocks(kind string) (list []object) {
	if kindOf(s.get("content")) != pyjson.Array {
		return nil
	}
	for _, e := range elements(s.get("content")) {
		if o := parseObject(string(e)); kindOf(string(e)) == pyjson.Object && stringOf(o.get("type")) == kind {
			list = append(list, o)
		}
	}
	return list
}

func (v view) user(s *seen) {
	s.begins, s.speaks = true, s.index("tool_call_id") < 0
	content := s.get("content")
	if kindOf(content) == pyjson.String {
		s.speaks = s.speaks && !reminds(content)
		return
	}
	if kindOf(content) != pyjson.Array {
		return
	}
	for _, e := range elements(content) {
		if kindOf(string(e)) == pyjson.Object && reminds(parseObject(string(e)).get("text")) {
			s.speaks = false
		}
	}
	results := s.blocks("tool_result")
	if len(results) == 0 || !v.f.by(toolBlocks) {
		return
	}
	s.begins, s.holds = false, true
	s.speaks = s.speaks && len(results) < len(elements(content))
	for _, o := range results {
		id := o.get("tool_use_id")
		if o.index("tool_use_id") < 0 {
			id = o.get("tool_call_id")
		}
		if kindOf(id) == pyjson.String {
			s.ids = append(s.ids, id)
		}
	}
}

func reminds(raw string) bool {
	text := pyjson.TrimSpace([]byte(stringOf(raw)))
	const tag = "<system-reminder>"
	return len(text) >= len(tag) && string(text[:len(tag)]) == tag
}

// starts are where turns begin.
func starts(rows []seen) []int {
	list := []int{}
	for i, r := range rows {
		if r.begins {
			list = append(list, i)
		}
	}
	return list
}

// orphans are the ids of calls that no row answers, each once.
func orphans(rows []seen) (ids []string) {
	for _, r := range rows {
		for _, c := range r.calls {
			answered := slices.ContainsFunc(rows, func(r seen) bool { return slices.Contains(r.ids, c.id) })
			if c.id != "" && !answered && !slices.Contains(ids, c.id) {
				ids = append(ids, c.id)
			}
		}
	}
	return ids
}
