package foreign

import (
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// claudeFormat is how Claude Code writes.
type claudeFormat struct {
	*layout
	has    func(uuid uint64) bool // whether another file has the record
	copies *copyNames
}

func (f claudeFormat) scan(s *scanning, raw []byte) error {
	l, err := parseClaude(raw)
	if err != nil {
		return err
	}
	r, parent := record{}, uint64(0)
	s.noteClaude(l)
	s.mark(l.mark)
	logical := uint64(0)
	if inChain(l.kind) && l.uuid != "" {
		r.uuid, parent, logical = f.copies.of(s.offset, l)
	}
	at := int32(s.t.records.len())
	r.key, r.flags = s.describeClaude(l, at)
	if r.uuid == 0 {
		r.flags &= isUnknown | isSidechain // nothing can follow it, and it follows nothing
	}
	if r.uuid != 0 && l.logical != "" && l.parent == "" && !r.is(isUser|isAssistant) {
		r.key, r.flags = logical, r.flags|isBoundary
	}
	if l.kind == "system" && l.subtype == "compact_boundary" && r.uuid != 0 {
		s.boundary(l, at)
	}
	s.add(r, parent)
	return nil
}

// boundary notes the compaction that a line tells of.
func (s *scanning) boundary(l claudeLine, at int32) {
	b := &s.t.facts.boundary
	b.last = at
	segment := members(l.compact, "preservedSegment")[0]
	if pyjson.KindOf(segment) != pyjson.Object {
		return
	}
	m := members(segment, "headUuid", "tailUuid", "anchorUuid")
	b.at, b.head, b.tail, b.anchor = at, hash(text(m[0])), hash(text(m[1])), hash(text(m[2]))
}

func (f claudeFormat) finish(s *scanning) {
	loose := s.loose.take()
	s.t.link(loose)
	s.t.guess(loose, f.layout.copies, func(uuid uint64) bool {
		found := f.has(uuid)
		if i, known := slices.BinarySearch(f.elsewhere, uuid); found && !known {
			f.elsewhere = slices.Insert(f.elsewhere, i, uuid)
		}
		return found
	})
	s.t.chain()
	s.t.preserve()
	s.t.nameBy(s.t.facts.summaries)
}

func (claudeFormat) part(raw []byte, _ int64, _ int) (part, error) { return parseClaude(raw) }

func (claudeFormat) agent(path string, _ *table) (id, name, task string) { return claudeAgent(path) }

// noteClaude keeps what a line says about the session.
func (s *scanning) noteClaude(l claudeLine) {
	if s.t.first.IsZero() {
		s.t.first = l.at
	}
	s.t.facts.time(l.at, l.atText)
	s.cwd(l.cwd)
	if g := &s.t.facts.goesOn; l.goesOn != "" && len(*g) < maxUnknown && !slices.Contains(*g, l.goesOn) {
		*g = append(*g, l.goesOn)
	}
	person := l.kind == "custom-title"
	switch {
	case l.title == "":
	case l.kind == "summary" && l.leaf != "":
		s.t.facts.summary(hash(l.leaf), l.title)
	case person || !s.t.byPerson:
		s.t.title, s.t.byPerson = l.title, person
	}
	if l.kind == "user" || l.kind == "assistant" || !inChain(l.kind) && !claudeKinds[l.kind] { // no message is made of others
		for _, name := range l.unknown {
			s.report.unknown("member", name)
		}
	}
}

// describeClaude returns the key and the flags of a line.
func (s *scanning) describeClaude(l claudeLine, at int32) (key uint64, f flags) {
	if l.sidechain {
		f |= isSidechain
	}
	if l.team || l.meta {
		f |= isSide
	}
	switch l.kind {
	case "user":
		return s.userClaude(l, f|isUser, at)
	case "assistant":
		thinks, calls, says := false, false, false
		for block := range pyjson.Elements(l.content) {
			m := pyjson.Values(block, "type", "id")
			if text(m[0]) == "tool_use" && l.uuid != "" {
				s.call(text(m[1]), at)
				s.task(block)
			}
			switch text(m[0]) {
			case "thinking":
				thinks = true
			case "tool_use":
				calls = true
			default:
				says = true
			}
		}
		switch {
		case says:
		case calls:
			f |= isCall
		case thinks:
			f |= isThought
		}
		key := hash("id " + l.response)
		if l.response == "" {
			key = hash("uuid " + l.uuid)
		}
		if l.uuid != "" {
			before := s.t.facts.lastSpent()
			s.t.facts.spend(at, l.responseHash(), l.model, l.usage, before >= 0 && s.t.records.at(before).key == key)
		}
		return key, f | isAssistant
	case "attachment":
		if said := l.queued(); said != "" {
			return hash(said), f | isLink | isQueued | isPerson
		}
		if l.queuedText() != "" {
			f |= isUser
		}
		return 0, f | isLink
	case "system":
		return 0, f | isLink
	case "progress":
		return 0, f | isLink | isProgress
	}
	if !claudeKinds[l.kind] {
		s.unknownKind("kind", l.kind)
		return 0, f | isUnknown
	}
	return 0, f
}

// responseHash returns a hash that a copy of a record of a response has, too, and no record
// of another one: of the ids of the response and of its request, or else of the record.
func (l claudeLine) responseHash() uint64 {
	if l.response != "" && l.request != "" {
		return hash(l.response + "\x00" + l.request)
	}
	return max(1, l.says())
}

// task keeps how a call that begins a sub-agent describes its task.
func (s *scanning) task(call []byte) {
	if name := text(members(call, "name")[0]); name == "Task" || name == "Agent" {
		m := members(members(call, "input")[0], "prompt", "description")
		if text(m[0]) != "" && text(m[1]) != "" {
			s.t.facts.summary(hash(text(m[0])), text(m[1]))
		}
	}
}

func (s *scanning) userClaude(l claudeLine, f flags, at int32) (uint64, flags) {
	said := l.prompt()
	hasImage := false
	for block := range pyjson.Elements(l.content) {
		m := pyjson.Values(block, "type", "tool_use_id")
		switch text(m[0]) {
		case "tool_result":
			f |= hasResults
			if l.uuid != "" {
				s.result(text(m[1]), at)
			}
		case "image", "document":
			hasImage = true
		}
	}
	if l.summary || !l.human && strings.HasPrefix(said, claudeSummary) {
		return hash(said), f | isSummary
	}
	if l.meta || l.shown || f&hasResults != 0 {
		return hash(said), f
	}
	switch {
	case isCommand(said):
		f |= isSlash | isPerson
	case isLocalCommand(said):
		f |= isSlash
	case strings.HasPrefix(said, "<bash-input>"):
		f |= isShell | isPerson
	case l.typed() || hasImage && strings.TrimSpace(said) == "":
		f |= isPerson | isPrompt
		said = firstOf(said, "image")
	case slices.ContainsFunc(slices.Collect(l.texts()), unknownCommand.MatchString):
		f |= isMistyped
	}
	return hash(said), f
}
