// Package claude is the format of Claude Code: the places of its histories, the content of
// their lines, and the making of such lines.
package claude

import (
	"cmp"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
	"github.com/amplifier-go/sessionstorage/slice/accept"
	"github.com/amplifier-go/sessionstorage/slice/accept/scale"
)

// Tool is Claude Code.
type Tool struct{}

func (Tool) Name() string { return "claude" }

// Program: Claude Code itself refuses pictures above 5 MB, as base64.
func (Tool) Program() thread.Program {
	return thread.Program{
		Title: "Claude Code", Home: ".claude", Moved: "CLAUDE_CONFIG_DIR", Resume: "--resume", Linked: true,
		Target: func() accept.Target {
			rules := accept.PicturesOf(accept.Anthropic, accept.OwnAPI, 0)
			rules.Bytes.Certain = 5 << 20
			return accept.Target{Provider: accept.Anthropic, Pictures: &rules, Scale: scale.Picture}
		},
	}
}

func (Tool) Format(l *thread.Layout, elsewhere func(uuid uint64) bool, _ iter.Seq2[thread.Line, error]) thread.Format {
	return format{l, elsewhere, &end{last: -1}}
}

func (Tool) Maker(w *thread.LineWriter, a thread.About) thread.Maker { return &maker{w: w, about: a} }

func (Tool) Says(raw []byte) uint64 {
	l, _ := parse(raw)
	return l.says()
}

func (Tool) IsCompared(thread.Record) bool { return true }

// Repeats: the tool lets a copy of the conversation do such work, and writes that copy again.
func (Tool) Repeats(path string) (copied, question bool) {
	name := filepath.Base(path)
	question = strings.HasPrefix(name, agentPrefix+"aside_question-")
	return question || strings.HasPrefix(name, agentPrefix+"acompact-"), question
}

// format is how Claude Code writes a file.
type format struct {
	*thread.Layout
	has func(uuid uint64) bool // whether another file has the record
	end *end
}

func (f format) Scan(s *thread.Scanning, raw []byte) error {
	l, err := parse(raw)
	if err != nil {
		return err
	}
	r, parent := thread.Record{}, uint64(0)
	note(s, l)
	logical := uint64(0)
	if inChain[l.kind] && l.uuid != "" {
		r.UUID, parent, logical = thread.Hash(l.uuid), thread.Hash(l.parent), thread.Hash(l.logical)
	}
	at := int32(s.Table.Records.Len())
	r.Key, r.Flags = describe(s, l, at)
	if r.UUID == 0 {
		r.Flags &= thread.IsUnknown | thread.IsSidechain // nothing can follow it, and it follows nothing
	}
	if r.UUID != 0 && l.logical != "" && l.parent == "" && !r.Is(thread.IsUser|thread.IsAssistant) {
		r.Key, r.Flags = logical, r.Flags|thread.IsBoundary
	}
	if l.kind == "system" && l.subtype == "compact_boundary" && r.UUID != 0 {
		noteBoundary(s, l, at)
	}
	f.end.line(l, at)
	s.Add(r, parent)
	return nil
}

// noteBoundary notes the compaction that a line describes.
func noteBoundary(s *thread.Scanning, l line, at int32) {
	b := &s.Table.Facts.Boundary
	b.Last = at
	segment := thread.Members(l.compact, "preservedSegment")[0]
	if pyjson.KindOf(segment) != pyjson.Object {
		return
	}
	m := thread.Members(segment, "headUuid", "tailUuid", "anchorUuid")
	b.At, b.Head, b.Tail, b.Anchor = at, thread.Hash(thread.ID(thread.Text(m[0]))), thread.Hash(thread.ID(thread.Text(m[1]))), thread.Hash(thread.ID(thread.Text(m[2])))
}

func (f format) Finish(s *thread.Scanning) {
	s.Link(func(uuid uint64) bool {
		found := f.has(uuid)
		if i, known := slices.BinarySearch(f.Elsewhere, thread.InMap(uuid)); found && !known {
			f.Elsewhere = slices.Insert(f.Elsewhere, i, thread.InMap(uuid))
		}
		return found
	})
	t := s.Table
	if t.End = t.Find(f.end.at); t.End < 0 || t.Records.At(t.End).Is(thread.IsSidechain) || !f.end.moved && goesOn(t, t.End, f.end.last) {
		t.End = f.end.last
	}
	t.NameBy(t.Facts.Summaries)
}

func (format) Part(raw []byte, _ int64, _ int, _ func(int64) ([]byte, error)) (thread.Part, error) {
	return parse(raw)
}

// note keeps the facts about the session in a line.
func note(s *thread.Scanning, l line) {
	person := l.kind == "custom-title"
	switch t := s.Table; {
	case !person:
		s.Head(l.Head)
	case !l.At.IsZero(): // an export wrote it: the tool's own titles have no time
		t.Named = l.At
	case (l.title != t.Title || !t.ByPerson) && t.Facts.Last.After(t.Named): // the tool repeats them
		t.Named = t.Facts.Last
	}
	s.Table.Dir = cmp.Or(s.Table.Dir, l.cwd)
	if g := &s.Table.Facts.GoesOn; l.goesOn != "" && len(*g) < thread.MaxUnknown && !slices.Contains(*g, l.goesOn) {
		*g = append(*g, l.goesOn)
	}
	if l.copied != "" && l.copied != l.session && !l.sidechain {
		s.Table.Lineage.Original = l.copied
	}
	switch {
	case l.title == "":
	case l.kind == "summary" && l.leaf != "":
		s.Table.Facts.Summary(thread.Hash(l.leaf), l.title)
	case person || !s.Table.ByPerson:
		s.Table.Title, s.Table.ByPerson = l.title, person
	}
	if l.kind == "user" || l.kind == "assistant" || !inChain[l.kind] && !kinds[l.kind] { // no message is made of others
		for _, name := range l.unknown {
			s.Notes.Unknown("member", name)
		}
	}
}

// summaryBegins is how the summary of a compaction begins.
const summaryBegins = "This session is being continued from a previous conversation that ran out of context"

// describe returns the key and the flags of a line.
func describe(s *thread.Scanning, l line, at int32) (key uint64, f thread.Flags) {
	if l.sidechain {
		f |= thread.IsSidechain
	}
	if l.team || l.meta {
		f |= thread.IsSide
	}
	switch l.kind {
	case "user":
		return describeUser(s, l, f|thread.IsUser, at)
	case "assistant":
		if l.model == synthetic && l.Prompt() == "No response requested." { // the tool writes it behind a prompt that got none
			return 0, f | thread.IsLink
		}
		thinks, calls, says := false, false, false
		for b := range blocksOf(l.content) {
			switch b.kind {
			case "thinking":
				thinks = true
			case "tool_use":
				if calls = true; l.uuid != "" {
					s.Call(thread.Text(thread.Members(b.raw, "id")[0]), at)
					noteTask(s, b.raw)
				}
			default:
				says = true
			}
		}
		switch {
		case says:
		case calls:
			f |= thread.IsCall
		case thinks:
			f |= thread.IsThought
		}
		key := thread.Hash("id " + l.response)
		if l.response == "" {
			key = thread.Hash("uuid " + l.uuid)
		}
		switch {
		case l.model == synthetic:
			f |= thread.IsByTool
		case l.uuid != "":
			s.Table.Facts.Spend(at, l.responseHash(), l.model, l.usage, &tokenNames)
		}
		return key, f | thread.IsAssistant
	case "attachment":
		if said := l.queued(); said != "" {
			return thread.Hash(said), f | thread.IsLink | thread.IsQueued | thread.IsPerson
		}
		if l.queuedText() != "" {
			f |= thread.IsUser
		}
		return 0, f | thread.IsLink
	case "system":
		return 0, f | thread.IsLink
	case "progress":
		return 0, f | thread.IsLink | thread.IsProgress
	}
	if !kinds[l.kind] {
		s.UnknownKind("kind", l.kind)
		return 0, f | thread.IsUnknown
	}
	return 0, f
}

// responseHash returns a hash that a copy of a record of a response has, too, and no record
// of another one: of the ids of the response and of its request, or else of the record.
func (l line) responseHash() uint64 {
	if l.response != "" && l.request != "" {
		return thread.Hash(l.response + "\x00" + l.request)
	}
	return max(1, xxh3.HashSeed(l.attach, xxh3.HashSeed(l.content, thread.Hash(l.uuid))))
}

// noteTask keeps how a call that begins a sub-agent describes its task.
func noteTask(s *thread.Scanning, call []byte) {
	if name := thread.Text(thread.Members(call, "name")[0]); name == "Task" || name == "Agent" {
		m := thread.Members(thread.Members(call, "input")[0], "prompt", "description")
		if thread.Text(m[0]) != "" && thread.Text(m[1]) != "" {
			s.Table.Facts.Summary(thread.Hash(thread.Text(m[0])), thread.Text(m[1]))
		}
	}
}

func describeUser(s *thread.Scanning, l line, f thread.Flags, at int32) (uint64, thread.Flags) {
	var texts []string
	hasImage := false
	for b := range blocksOf(l.content) {
		switch b.kind {
		case "text":
			texts = append(texts, b.text)
		case "tool_result":
			f |= thread.HasResults
			if l.uuid != "" {
				s.Result(thread.Text(thread.Members(b.raw, "tool_use_id")[0]), at)
			}
		case "image", "document":
			hasImage = true
		}
	}
	said := strings.Join(texts, "\n")
	if l.summary || !l.human && strings.HasPrefix(said, summaryBegins) {
		return thread.Hash(said), f | thread.IsSummary
	}
	if l.meta || l.shown || f&thread.HasResults != 0 {
		return thread.Hash(said), f
	}
	switch {
	case strings.HasPrefix(said, thread.Command):
		f |= thread.IsSlash | thread.IsPerson
	case strings.HasPrefix(said, thread.LocalCommand):
		f |= thread.IsSlash
	case strings.HasPrefix(said, "<bash-input>"):
		f |= thread.IsShell | thread.IsPerson
	case isTyped(texts, l.human) || hasImage && strings.TrimSpace(said) == "":
		f |= thread.IsPerson | thread.IsPrompt
		said = cmp.Or(said, "image")
	case slices.ContainsFunc(texts, thread.UnknownCommand.MatchString):
		f |= thread.IsMistyped
	}
	return thread.Hash(said), f
}
