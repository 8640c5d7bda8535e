package foreign

import (
	"math"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
)

func (f *codexFormat) scan(s *scanning, raw []byte) error {
	l, err := parseCodex(raw)
	if err != nil {
		return err
	}
	if !f.began {
		f.began, f.cur = true, -1
	}
	f.line = l.hash()
	f.follow(s)
	for _, name := range l.unknown {
		s.report.unknown("member", name)
	}
	s.t.facts.time(l.at, l.atText)
	f.endCopy(s, l)
	s.mark(l.mark)
	switch l.kind {
	case codexMeta:
		f.meta(s, l)
	case codexItemKind, codexAgents:
		f.scanItem(s, l.item())
	case codexEvent:
		f.event(s, l.item())
	case codexSettings:
		m := members(l.payload, "cwd", "model")
		s.cwd(text(m[0]))
		s.t.facts.codex.turn(text(m[1]))
		f.append(s, record{flags: isLink | isNote})
	case codexCompact:
		f.compacted(s, l)
	case "rollout_reference":
		f.append(s, record{flags: isUser})
	case "inter_agent_communication_metadata", "world_state", "token_usage_record", codexState:
		s.add(record{}, 0)
	default:
		s.unknownKind("kind", l.kind)
		s.add(record{flags: isUnknown}, 0)
	}
	return nil
}

func (f *codexFormat) finish(s *scanning) {
	f.settle(s.t)
	if f.copy.on {
		s.t.thread.shared = len(f.turns)
	}
	if f.began {
		s.t.end = f.cur
	}
	for _, r := range s.t.records.all() {
		if r.parent >= 0 {
			s.t.records.at(r.parent).flags |= hasChild
		}
	}
}

// meta takes what a session tells of itself: the first line this one, later lines
// one that was copied.
func (f *codexFormat) meta(s *scanning, l codexLine) {
	m := members(l.payload, "id", "cwd", "timestamp", "history_base")
	th, id := &s.t.thread, text(m[0])
	if f.isBorrowed(s) {
		s.add(record{}, 0)
		return
	}
	if th.id != "" {
		f.copy.on = f.copy.on || id != th.id && (th.original != "" || th.spawner != "")
		s.add(record{}, 0)
		return
	}
	th.id = id
	s.cwd(text(m[1]))
	if t, _, err := pytime.Parse(text(m[2])); err == nil && s.t.first.IsZero() {
		s.t.first = t
	}
	from := members(l.payload, "forked_from_id", "parent_thread_id", "source", "agent_role")
	th.base = codexBaseOf(m[3])
	th.original = firstOf(text(from[0]), th.base.id)
	spawn := members(from[2], "subagent")[0]
	spawned := members(members(spawn, "thread_spawn")[0], "parent_thread_id", "agent_role", "agent_nickname")
	if spawn != nil {
		th.spawner = firstOf(text(spawned[0]), text(from[1]))
		th.agent = firstOf(firstOf(text(from[3]), text(spawned[1])), firstOf(text(spawned[2]), firstOf(text(spawn), "agent")))
	}
	if th.original == id {
		th.original = "" // it goes on from its own beginning
	}
	if pyjson.KindOf(m[3]) == pyjson.Object && f.layout.own == 0 {
		f.append(s, record{flags: isUser})
		return
	}
	s.add(record{}, 0)
}

// codexBaseOf returns what a file says of its beginning. An offset that no file has is
// behind the end of each.
func codexBaseOf(raw []byte) (b codexBase) {
	m := members(raw, "thread_id", "end_ordinal_exclusive", "end_byte_offset")
	b.id, b.ordinal = text(m[0]), tokens(m[1])
	if n, ok := pyjson.Int(m[2]); m[2] != nil {
		b.offset = n
		if !ok || n < 0 {
			b.offset = math.MaxInt64
		}
	}
	return b
}

// event takes an event.
func (f *codexFormat) event(s *scanning, it codexItem) {
	switch it.kind {
	case "user_message":
		s.t.facts.codex.prompts.push(int32(s.t.records.len()))
		f.prompted(s, it)
	case "thread_rolled_back":
		f.rollBack(s, it)
	case "token_count":
		counts := members(it.get("info")[0], "total_token_usage")[0]
		s.t.facts.codex.used(counts, f.copy.on)
		total := tokens(members(counts, "total_tokens")[0])
		if total != f.total {
			f.total = total
			if !f.copy.on {
				f.append(s, record{flags: isLink | isNote})
				return
			}
		}
	default:
		if !codexEvents[it.kind] {
			s.unknownKind("event", it.kind)
			s.add(record{flags: isUnknown}, 0)
			return
		}
	}
	s.add(record{}, 0)
}

// compacted begins the conversation anew, with the items that the line has, or with
// its message behind the last prompts; see expand.
func (f *codexFormat) compacted(s *scanning, l codexLine) {
	f.group++
	items, kept := l.replacement()
	before := f.cur
	f.cur = -1
	r := record{flags: isLink | isBoundary, key: uint64(before + 1)}
	if !kept {
		r.flags = isUser | isCompacted | isSummary | isBoundary
	}
	f.append(s, r)
	for raw := range pyjson.Elements(items) {
		r := f.describe(s, codexItem{at: l.at, kind: text(members(raw, "type")[0]), body: raw})
		r.flags = r.flags&^isPrompt | isCopied // it stands before the compaction, too
		s.t.extras = append(s.t.extras, int32(s.t.records.len()))
		if r.flags&(isUser|isAssistant) != 0 {
			f.append(s, r)
		} else {
			s.add(r, 0)
		}
	}
}

// scanItem takes an item of the conversation.
func (f *codexFormat) scanItem(s *scanning, it codexItem) {
	if it.kind == "message" && s.t.cwd == "" {
		s.cwd(cwdIn(it))
	}
	r := f.describe(s, it)
	if r.flags&(isUser|isAssistant) == 0 {
		s.add(r, 0)
		return
	}
	before, at := f.cur, int32(s.t.records.len())
	s.countItem(it, r, at)
	if r.is(isAssistant) {
		f.endStretch(at)
	}
	event := f.awaited(r)
	if event {
		r.flags |= f.byPerson()
	}
	if r.is(isPerson) {
		f.turns = append(f.turns, codexTurn{f.beforeTurn(s.t, before), at, event || it.kind != "message"})
	}
	if f.copy.on {
		r.flags &^= isPrompt // the session that it was copied from has it
	}
	f.append(s, r)
}

// countItem counts an item of the conversation, which is the record at.
func (s *scanning) countItem(it codexItem, r record, at int32) {
	c := &s.t.facts.codex
	switch {
	case r.is(isPerson):
		c.typed.push(at)
	case r.is(isUser) && strings.HasPrefix(it.prompt(), "<user_shell_command>"):
		c.shell++
	case strings.HasSuffix(it.kind, "_output"):
		c.results++
	case strings.HasSuffix(it.kind, "_call"):
		c.calls++
		if it.kind == "function_call" || it.kind == "custom_tool_call" {
			c.pending = append(c.pending, hash(it.callID()))
		}
	case it.kind == "message" && r.is(isAssistant):
		c.responses++
		if m := s.marks.newest(); m != nil && m.at == at {
			c.exported++
		}
	}
}
