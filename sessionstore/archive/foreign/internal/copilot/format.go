// Package copilot is the format of the GitHub Copilot CLI: the places of its histories, the
// content of their lines, and the making of such lines.
package copilot

import (
	"cmp"
	"iter"
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// Tool is the GitHub Copilot CLI. The lines of sub-agents are in the file of their session.
type Tool struct{ thread.Alone }

func (Tool) Name() string { return "copilot" }

func (Tool) Program() thread.Program {
	return thread.Program{
		Title: "GitHub Copilot CLI", Home: ".copilot", Moved: "COPILOT_HOME", Resume: "--resume",
		Target: thread.AnyProvider,
	}
}

func (Tool) Format(*thread.Layout, func(uint64) bool, iter.Seq2[thread.Line, error]) thread.Format {
	return &format{agents: map[uint64]*agent{0: {last: -1}}, offsets: map[uint64]int64{}}
}

func (Tool) Maker(w *thread.LineWriter, a thread.About) thread.Maker { return &maker{w: w, about: a} }

func (Tool) Says(raw []byte) uint64 {
	l, _ := parse(raw)
	return l.says()
}

func (Tool) Speaks(raw []byte) bool {
	l, err := parse(raw)
	return err != nil || kinds[l.kind]&thread.IsLink == 0
}

// format is how the tool writes a file: events in their order, with the events of sub-agents among
// them. A rewind takes events out of the file.
type format struct {
	thread.Alone
	agents  map[uint64]*agent // by hashes of their ids; the main conversation is 0
	offsets map[uint64]int64  // of pictures and of commands of a person, by hashes of their ids
	model   string
	prompts int
}

// agent is the main conversation or a sub-agent.
type agent struct {
	root, last int32 // its first and its last record; -1: none
	started    bool  // an event told its kind and its task
}

// maxVersion is the newest version of the format that is known.
const maxVersion = 1

func (f *format) Scan(s *thread.Scanning, raw []byte) error {
	l, err := parse(raw)
	if err != nil {
		return err
	}
	t, at := s.Table, int32(s.Table.Records.Len())
	s.Head(l.Head)
	a := f.agents[thread.Hash(l.agent)]
	if a == nil {
		a = &agent{root: at, last: -1}
		f.agents[thread.Hash(l.agent)] = a
		if t.Inside == nil {
			t.Inside = map[int32]thread.Inside{}
		}
		t.Inside[at] = thread.Inside{ID: l.agent, Parent: -1}
	}
	r := thread.Record{UUID: thread.Hash(cmp.Or(l.id, string(raw))), Key: thread.Hash("id " + l.id), Flags: l.flags()}
	if r.Flags == 0 {
		s.UnknownKind("kind", l.kind)
		r.Flags = thread.IsUnknown
	}
	if l.agent != "" {
		r.Flags |= thread.IsSidechain
	} else if r.Is(thread.IsPerson) {
		f.prompts++
	}
	f.note(s, l, a)
	s.Content(&r, l, l.get("toolCallId"))
	parent := a.last
	if r.Is(thread.IsBoundary) {
		r.Key, parent = uint64(a.last+1), -1
		if l.kind == clearKind && thread.Members(l.data, clearedHere)[0] != nil { // an export goes on without what was before
			r.Flags, r.Key = thread.IsLink, 0
		}
	}
	if raw, model := l.used(); raw != nil {
		f.model = cmp.Or(model, f.model)
		if s := t.Facts.Spend(at, thread.Hash("id "+l.id), f.model, raw, &tokenNames); s != nil {
			s.Tokens[0] -= min(s.Tokens[0], s.Tokens[2]) // the cached ones are in it
			s.Tokens[0] -= min(s.Tokens[0], s.Tokens[3])
		}
	}
	s.Add(r, 0)
	t.Records.At(at).Parent = parent
	a.last = at
	return nil
}

// note takes the facts of an event that is in no conversation.
func (f *format) note(s *thread.Scanning, l line, a *agent) {
	t := s.Table
	switch l.kind {
	case startKind:
		t.Dir = cmp.Or(t.Dir, l.dir())
		s.Version(thread.Members(l.data, "version")[0], maxVersion)
	case pictureKind, shellKind:
		f.offsets[thread.Hash(l.kind+" "+cmp.Or(l.get("assetId"), l.get("toolCallId")))] = s.Offset
	case "session.info":
		if m := forkedFrom.FindStringSubmatch(l.get("message")); m != nil && l.get("infoType") == "fork" {
			t.Lineage.Original, t.Lineage.Shared = thread.ID(m[1]), f.prompts
		}
	case "subagent.started":
		m := thread.Members(l.data, "agentName", "agentDescription", "toolCallId", "parentId")
		if l.agent == "" || a.started {
			return
		}
		a.started = true
		in := thread.Inside{ID: l.agent, Name: thread.Text(m[0]), Task: strings.TrimSpace(thread.Text(m[1])), Call: thread.Text(m[2]), Parent: -1}
		if p := f.agents[thread.Hash(thread.Text(m[3]))]; p != nil && p.root < a.root && thread.Text(m[3]) != "" {
			in.Parent = p.root
		}
		t.Inside[a.root] = in
	}
}

func (f *format) Finish(s *thread.Scanning) {
	s.Table.Follow()
	s.Table.End = f.agents[0].last
}

// Part: a picture has a line of its own, and so has the command of a person.
func (f *format) Part(raw []byte, _ int64, _ int, read func(offset int64) ([]byte, error)) (thread.Part, error) {
	l, err := parse(raw)
	room := thread.MaxLine // many references may name one picture
	l.other = func(kind, id string, names ...string) (m [4][]byte) {
		if at, known := f.offsets[thread.Hash(kind+" "+id)]; known {
			if raw, err := read(at); err == nil {
				of, _ := parse(raw)
				m = thread.Members(of.data, names...)
			}
		}
		if room -= len(m[0]); room < 0 {
			return [4][]byte{}
		}
		return m
	}
	return l, err
}
