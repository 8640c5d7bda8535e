package codex

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

func (f *format) Scan(s *thread.Scanning, raw []byte) error {
	l, err := parse(raw)
	if err != nil {
		return err
	}
	if !f.began {
		f.began, f.cur = true, -1
	}
	f.line = l.hash()
	s.Table.Numbered = l.numbered
	f.follow(s)
	for _, name := range l.unknown {
		s.Notes.Unknown("member", name)
	}
	s.Table.Facts.Time(l.at, l.atText)
	f.endCopy(s, l)
	s.Mark(l.mark, l.seal)
	switch l.kind {
	case metaKind:
		f.meta(s, l)
	case itemKind, agentsKind:
		f.scanItem(s, l.item())
	case eventKind:
		f.event(s, l.item())
	case settingsKind:
		m := thread.Members(l.payload, "cwd", "model")
		s.Table.Dir = cmp.Or(s.Table.Dir, thread.Text(m[0]))
		f.facts.turn(thread.Text(m[1]))
		f.append(s, thread.Record{Flags: thread.IsLink | thread.IsNote})
	case compactKind:
		f.compacted(s, l)
	case "rollout_reference":
		f.append(s, thread.Record{Flags: thread.IsUser})
	case "inter_agent_communication_metadata", "world_state", "token_usage_record", stateKind:
		s.Add(thread.Record{}, 0)
	default:
		s.UnknownKind("kind", l.kind)
		s.Add(thread.Record{Flags: thread.IsUnknown}, 0)
	}
	return nil
}

func (f *format) Finish(s *thread.Scanning) {
	f.settle(s.Table)
	if f.copy.on {
		s.Table.Lineage.Shared = len(f.turns)
	}
	if f.began {
		s.Table.End = f.cur
	}
	s.Table.Facts.Total = f.spent()
	s.Table.Follow()
}

// meta takes the metadata of a session: the first such line describes this session, later
// ones a session that was copied.
func (f *format) meta(s *thread.Scanning, l line) {
	m := thread.Members(l.payload, "id", "cwd", "timestamp", "history_base")
	th, id := &s.Table.Lineage, thread.ID(thread.Text(m[0]))
	if f.isBorrowed(s) {
		s.Add(thread.Record{}, 0)
		return
	}
	if th.ID != "" {
		if !f.copy.on && id != th.ID && (th.Original != "" || th.Spawner != "") {
			f.beginCopy()
		}
		s.Add(thread.Record{}, 0)
		return
	}
	th.ID = id
	s.Table.Dir = cmp.Or(s.Table.Dir, thread.Text(m[1]))
	if t, _, err := pytime.Parse(thread.Text(m[2])); err == nil && s.Table.First.IsZero() {
		s.Table.First = t
	}
	from := thread.Members(l.payload, "forked_from_id", "parent_thread_id", "source", "agent_role")
	f.base = baseOf(m[3])
	th.Original = cmp.Or(thread.ID(thread.Text(from[0])), f.base.id)
	spawn := thread.Members(from[2], "subagent")[0]
	spawned := thread.Members(thread.Members(spawn, "thread_spawn")[0], "parent_thread_id", "agent_role", "agent_nickname")
	if spawn != nil {
		th.Spawner = thread.ID(cmp.Or(thread.Text(spawned[0]), thread.Text(from[1])))
		th.Agent = cmp.Or(thread.Text(from[3]), thread.Text(spawned[1]), thread.Text(spawned[2]), thread.Text(spawn), "agent")
	}
	if th.Original == id {
		th.Original = "" // it goes on from its own beginning
	}
	if pyjson.KindOf(m[3]) == pyjson.Object && f.layout.Own == 0 {
		f.append(s, thread.Record{Flags: thread.IsUser})
		return
	}
	s.Add(thread.Record{}, 0)
}

// baseOf returns the beginning that a file names. An offset that no file has is behind the
// end of each.
func baseOf(raw []byte) (b base) {
	m := thread.Members(raw, "thread_id", "end_ordinal_exclusive", "end_byte_offset")
	b.id, b.ordinal = thread.ID(thread.Text(m[0])), thread.Tokens(m[1])
	if n, ok := pyjson.Int(m[2]); m[2] != nil {
		b.offset = n
		if !ok || n < 0 {
			b.offset = math.MaxInt64
		}
	}
	return b
}

// event takes an event.
func (f *format) event(s *thread.Scanning, it item) {
	switch it.kind {
	case "user_message":
		f.facts.Prompts.push(int32(s.Table.Records.Len()))
		f.prompted(s, it)
	case "thread_rolled_back":
		f.rollBack(s, it)
	case "token_count":
		counts := thread.Members(it.get("info")[0], "total_token_usage")[0]
		f.facts.used(counts, f.copy.on)
		total := thread.Tokens(thread.Members(counts, "total_tokens")[0])
		if total != f.total {
			f.total = total
			if !f.copy.on {
				f.append(s, thread.Record{Flags: thread.IsLink | thread.IsNote})
				return
			}
		}
	default:
		if !events[it.kind] {
			s.UnknownKind("event", it.kind)
			s.Add(thread.Record{Flags: thread.IsUnknown}, 0)
			return
		}
	}
	s.Add(thread.Record{}, 0)
}

// compacted begins the conversation anew, with the items that the line has, or with
// its message behind the last prompts; see expand.
func (f *format) compacted(s *thread.Scanning, l line) {
	f.group++
	f.dropSummary(s, l)
	items, kept := l.replacement()
	before := f.cur
	f.cur = -1
	r := thread.Record{Flags: thread.IsLink | thread.IsBoundary, Key: uint64(before + 1)}
	if !kept {
		r.Flags = thread.IsUser | thread.IsCompacted | thread.IsSummary | thread.IsBoundary
	}
	f.append(s, r)
	for raw := range pyjson.Elements(items) {
		r := f.describe(s, item{at: l.at, kind: thread.Text(thread.Members(raw, "type")[0]), body: raw})
		r.Flags = r.Flags&^thread.IsPrompt | thread.IsCopied // it is in the lines before the compaction, too
		s.Table.Extras = append(s.Table.Extras, int32(s.Table.Records.Len()))
		if r.Flags&(thread.IsUser|thread.IsAssistant) != 0 {
			f.append(s, r)
		} else {
			s.Add(r, 0)
		}
	}
}

// dropSummary takes the answer before a compaction out of the conversation, with the thoughts
// before it, if the compaction has it as its summary.
func (f *format) dropSummary(s *thread.Scanning, l line) {
	message := thread.Text(thread.Members(l.payload, "message")[0])
	if f.summary.text == "" || !strings.HasSuffix(strings.TrimSpace(message), "\n"+f.summary.text) {
		return
	}
	for at := f.cur; at >= 0; at = s.Table.Records.At(at).Parent {
		switch r := s.Table.Records.At(at); {
		case r.Is(thread.IsNote):
		case at == f.summary.at || at < f.summary.at && r.Is(thread.IsThought):
			r.Flags, r.Key = r.Flags&^(thread.IsAssistant|thread.IsThought)|thread.IsUser|thread.IsSummary, 0
		default:
			return
		}
	}
}

// scanItem takes an item of the conversation.
func (f *format) scanItem(s *thread.Scanning, it item) {
	if it.kind == "message" && s.Table.Dir == "" {
		s.Table.Dir = cmp.Or(s.Table.Dir, cwdIn(it))
	}
	r := f.describe(s, it)
	if r.Flags&(thread.IsUser|thread.IsAssistant) == 0 {
		s.Add(r, 0)
		return
	}
	before, at := f.cur, int32(s.Table.Records.Len())
	f.countItem(s, it, r, at)
	if r.Is(thread.IsAssistant) && it.kind == "message" {
		f.summary = summary{at, strings.TrimSpace(strings.Join(it.Answer().Said, "\n"))}
	}
	if r.Is(thread.IsAssistant) {
		f.endStretch(at)
	}
	event := f.awaited(r)
	if event {
		r.Flags |= f.byPerson()
	}
	if r.Is(thread.IsPerson) {
		f.turns = append(f.turns, turn{f.beforeTurn(s.Table, before), at, event || it.kind != "message"})
	}
	if f.copy.on {
		r.Flags &^= thread.IsPrompt // the session that it was copied from has it
	}
	f.append(s, r)
}

// countItem counts an item of the conversation, which is the record at.
func (f *format) countItem(s *thread.Scanning, it item, r thread.Record, at int32) {
	c := &f.facts
	switch {
	case r.Is(thread.IsPerson):
		c.Typed.push(at)
	case r.Is(thread.IsUser) && strings.HasPrefix(it.Prompt(), "<user_shell_command>"):
		c.Shell++
	case strings.HasSuffix(it.kind, "_output"):
		c.Results++
	case strings.HasSuffix(it.kind, "_call"):
		c.Calls++
		if it.kind == "function_call" || it.kind == "custom_tool_call" {
			c.Pending = append(c.Pending, thread.Hash(it.callID()))
		}
	case it.kind == "message" && r.Is(thread.IsAssistant):
		c.Responses++
		if m := s.Marks.Newest(); f.copy.on || m != nil && m.At == at {
			c.others++
		}
	}
}

// describe returns the record of an item.
func (f *format) describe(s *thread.Scanning, it item) (r thread.Record) {
	if !items[it.kind] && !quiet[it.kind] {
		s.UnknownKind("item", it.kind)
		return thread.Record{Flags: thread.IsUnknown}
	}
	for m := range pyjson.Members(it.body) {
		if name := pyjson.Text(m.Key); !memberNames[name] && it.kind != agentsKind {
			s.Notes.Unknown("member", name)
		}
	}
	at := int32(s.Table.Records.Len())
	switch {
	case quiet[it.kind]:
		return r
	case it.kind == "message" && thread.Text(it.get("role")[0]) != "assistant":
		r = it.said(thread.Text(it.get("role")[0]) == "user")
	case it.kind == "agent_message" || it.kind == agentsKind:
		r = it.said(s.Table.Lineage.Spawner != "")
		r.Flags &^= thread.IsPrompt
	case strings.HasPrefix(it.kind, "compaction") || it.kind == "context_compaction":
		r.Flags = thread.IsUser | thread.IsSummary
	case strings.HasSuffix(it.kind, "_output"):
		r.Flags = thread.IsUser | thread.HasResults
		s.Result(it.callID(), at)
	default:
		r.Flags, r.Key = thread.IsAssistant, f.group
		if it.kind == "reasoning" {
			r.Flags |= thread.IsThought
		}
		if id := it.callID(); strings.HasSuffix(it.kind, "_call") && id != "" {
			s.Call(id, at)
			if it.kind == "image_generation_call" {
				s.Result(id, at)
			}
		}
		if it.kind == "web_search_call" || it.kind == "image_generation_call" {
			f.group++ // it was done within the response: the next item knows the result
		}
		return r
	}
	f.group++
	return r
}

// said returns the record of a message that is not the model's. A person may have
// written it.
func (it item) said(person bool) thread.Record {
	p := it.User()
	if len(p.Said) == 0 && len(p.Parts) == 0 {
		return thread.Record{Flags: thread.IsUser}
	}
	said := strings.Join(p.Said, "\n")
	if strings.HasPrefix(said, summaryBegins) {
		return thread.Record{Flags: thread.IsUser | thread.IsSummary}
	}
	if !person || slices.ContainsFunc(p.Said, isByTool) {
		return thread.Record{Flags: thread.IsUser, Key: thread.Hash(said)}
	}
	return thread.Record{Flags: thread.IsUser | thread.IsPerson | thread.IsPrompt, Key: thread.Hash(cmp.Or(said, "image"))}
}

// cwdIn returns the working directory that the tool gave the model.
func cwdIn(it item) string {
	for _, s := range it.User().Said {
		if !isByTool(s) {
			continue
		}
		if _, rest, found := strings.Cut(s, "<cwd>"); found {
			cwd, _, _ := strings.Cut(rest, "</cwd>")
			return strings.TrimSpace(cwd)
		}
	}
	return ""
}

// spent returns what the thread used, as its last count says.
func (f *format) spent() map[string]*thread.Spending {
	c := &f.facts
	if c.Total[0] == nil && c.Total[1] == nil {
		return nil
	}
	s := &thread.Spending{Responses: c.Responses - c.others}
	for i, n := range []*int64{&s.Input, &s.Output, &s.CacheRead} {
		if c.Total[i] != nil {
			*n = max(0, *c.Total[i]-c.base[i])
		}
	}
	s.Input = max(0, s.Input-s.CacheRead)
	return map[string]*thread.Spending{cmp.Or(c.model, thread.UnknownModel): s}
}
