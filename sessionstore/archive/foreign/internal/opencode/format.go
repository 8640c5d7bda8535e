package opencode

import (
	"cmp"
	"fmt"
	"iter"
	"regexp"
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// Tool is opencode. A sub-agent has a session of its own, in the same database.
type Tool struct{ thread.Alone }

func (Tool) Name() string { return "opencode" }

func (Tool) Program() thread.Program {
	return thread.Program{
		Title: "opencode", Home: ".local/share/opencode", Moved: "XDG_DATA_HOME", Below: "opencode", Resume: "-s", Linked: true, Linear: true, IDs: ids,
		ID:     func(uuid string) string { return "ses_" + strings.ReplaceAll(uuid, "-", "") },
		Target: thread.AnyProvider,
	}
}

// ids matches the ids of sessions.
var ids = regexp.MustCompile(`^ses_[A-Za-z0-9]{1,64}$`)

func (Tool) Format(*thread.Layout, func(uint64) bool, iter.Seq2[thread.Line, error]) thread.Format {
	return &format{seen: map[string]int{}, before: map[string]uint64{}}
}

func (Tool) Says(raw []byte) uint64 {
	l, _ := parse(raw)
	return l.says()
}

// IsCompared: an answer that opencode may still write is no record to compare by.
func (Tool) IsCompared(r thread.Record) bool { return !r.Is(thread.IsUnfinished) }

// Speaks: lines follow all lines.
func (Tool) Speaks(raw []byte) bool {
	l, err := parse(raw)
	return err != nil || l.kind == "user" || l.kind == "assistant" || l.kind == "result" || l.kind == "revert"
}

// format is how the lines of a session follow each other: each the one before, up to the message
// from which a revert hides them.
type format struct {
	last   uint64            // of the last record
	seen   map[string]int    // how many messages of a role have a time
	before map[string]uint64 // the record before each message
	hides  string            // the message from which on all are hidden, up to the next message
	agent  string
}

func (f *format) Scan(s *thread.Scanning, raw []byte) error {
	l, err := parse(raw)
	if err != nil {
		return err
	}
	t := s.Table
	switch l.kind {
	case "session":
		m := thread.Members(raw, "directory", "parent")
		t.Dir, t.Lineage.ID, t.Lineage.Spawner = thread.Text(m[0]), l.id, thread.Text(m[1])
	case "user", "assistant":
		f.message(s, l)
		return nil
	case "result":
		s.Mark(l.Mark, l.Seal)
		s.Result(l.call, int32(t.Records.Len()))
		s.Add(f.record("result "+l.call, thread.IsUser|thread.HasResults))
		return nil
	case "revert":
		if f.hides = l.id; thread.Text(thread.Members(raw, "part")[0]) != "" {
			s.UnknownKind("revert", "part")
		}
	case "migration":
		s.UnknownKind("migration", thread.Text(thread.Members(raw, "name")[0]))
	default:
		s.UnknownKind("kind", l.kind)
		s.Add(thread.Record{Flags: thread.IsUnknown}, 0)
		return nil
	}
	s.Add(thread.Record{}, 0)
	return nil
}

// record returns a record that follows the last one, and has a name that a fork's copy has, too.
func (f *format) record(name string, flags thread.Flags) (r thread.Record, parent uint64) {
	f.seen[name]++
	r = thread.Record{UUID: thread.Hash(fmt.Sprint(name, " ", f.seen[name])), Flags: flags}
	r.Key, parent = r.UUID, f.last
	f.last = r.UUID
	return r, parent
}

// message takes a message: a prompt, what opencode wrote in the user's name, both, the beginning of
// a compaction, an answer, or the summary of a compaction.
func (f *format) message(s *thread.Scanning, l line) {
	t, at := s.Table, int32(s.Table.Records.Len())
	s.Head(l.Head)
	if before, found := f.before[f.hides]; found {
		f.last, f.hides = before, ""
	}
	if l.id != "" {
		f.before[l.id] = f.last
	}
	f.agent = cmp.Or(f.agent, thread.Text(thread.Members(l.data, "agent")[0]))
	name := fmt.Sprint(l.kind, " ", l.At.UnixMilli())
	if l.kind == "user" {
		f.user(s, l, name)
		return
	}
	flags, answer := thread.IsAssistant, l.Answer()
	if len(answer.Said)+len(answer.Thought)+len(answer.Calls)+len(answer.Other) == 0 { // it was interrupted, or failed
		flags = thread.IsLink
	}
	if l.isOpen() {
		flags |= thread.IsUnfinished
	}
	r, parent := f.record(name, flags)
	if m := thread.Members(l.data, "summary", "finish", "error"); thread.IsTrue(m[0]) && m[1] != nil && m[2] == nil { // else the compaction failed
		r.Flags = thread.IsUser | thread.IsSummary | thread.IsBoundary
		r.Key, parent = parent, 0
	}
	for _, c := range answer.Calls {
		s.Call(c.ID, at)
	}
	if usage := l.usage(); usage != nil {
		own := thread.Hash(name + " " + l.model() + " " + string(usage)) // a fork's copy has it, too
		t.Facts.Spend(at, own, l.model(), usage, &tokenNames)
	}
	s.Add(r, parent)
}

// user takes a message of the user. What opencode wrote beside a prompt is a record of its own.
func (f *format) user(s *thread.Scanning, l line, name string) {
	typed, synthetic := l.said(false), l.said(true)
	said := len(typed.Said)+len(typed.Parts)+len(typed.Other) > 0
	byTool := len(synthetic.Said)+len(synthetic.Parts) > 0
	if said || l.Mark != "" && !byTool {
		r, parent := f.record(name, thread.IsUser|thread.IsPerson|thread.IsPrompt)
		r.Key = thread.Hash(cmp.Or(strings.Join(typed.Said, "\n"), "image"))
		s.Add(r, parent)
		if !byTool {
			return
		}
		s.Table.Extras = append(s.Table.Extras, int32(s.Table.Records.Len()))
	}
	flags := thread.IsLink
	if byTool {
		flags = thread.IsUser
	}
	s.Add(f.record(name, flags))
}

func (f *format) Finish(s *thread.Scanning) {
	t := s.Table
	s.Link(func(uint64) bool { return false })
	t.End = t.Find(f.last)
	if before, found := f.before[f.hides]; found {
		t.End, t.Numbered = t.Find(before), true // lines behind those that it hides would be hidden, too
	}
}

// Part: the second record of a message is what opencode wrote beside a prompt, and so is the
// first one where no person typed anything.
func (*format) Part(raw []byte, _ int64, n int, _ func(int64) ([]byte, error)) (thread.Part, error) {
	l, err := parse(raw)
	l.synthetic = n > 0
	return l, err
}

func (f *format) Agent(_ string, t *thread.Table) (id, name, task string) {
	return t.Lineage.ID, cmp.Or(f.agent, "agent"), ""
}
