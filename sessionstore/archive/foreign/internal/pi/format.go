// Package pi is the format of pi, the coding agent: the places of its histories, the content
// of their lines, and the making of such lines. The page SOURCES.md of package foreign
// explains it to those who write a source of their own.
package pi

import (
	"cmp"
	"iter"
	"regexp"
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// Tool is pi.
type Tool struct{ thread.Alone }

func (Tool) Name() string { return "pi" }

func (Tool) Program() thread.Program {
	return thread.Program{
		Title: "pi", Home: ".pi/agent", Moved: "PI_CODING_AGENT_DIR", Resume: "--session", Linked: true, IDs: ids,
		Target: thread.AnyProvider,
	}
}

// ids matches the ids that --session-id takes. pi finds a session by the id in its header.
var ids = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,180}[A-Za-z0-9])?$`)

func (Tool) Format(*thread.Layout, func(uint64) bool, iter.Seq2[thread.Line, error]) thread.Format {
	return &format{kept: map[int32][2]uint64{}}
}

func (Tool) Maker(w *thread.LineWriter, a thread.About) thread.Maker {
	return &maker{w: w, about: a, last: a.Began}
}

func (Tool) Says(raw []byte) uint64 {
	l, _ := parse(raw)
	return l.says()
}

// Speaks: what an export adds follows the last message, whatever the tool noted behind it.
func (Tool) Speaks(raw []byte) bool {
	l, err := parse(raw)
	return err != nil || kinds[l.kind]&thread.IsLink == 0 || l.kind == "context_edit"
}

// format is how pi writes a file: a tree of entries, each of which names the one before. The
// session is at the last one.
type format struct {
	thread.Alone
	last  uint64 // of the last entry
	model string
	kept  map[int32][2]uint64 // by compaction: the first and the last entry that it kept
}

// maxVersion is the newest version of the format that is known.
const maxVersion = 3

func (f *format) Scan(s *thread.Scanning, raw []byte) error {
	l, err := parse(raw)
	if err != nil {
		return err
	}
	t, at := s.Table, int32(s.Table.Records.Len())
	s.Head(l.Head)
	flags, known := kinds[l.kind]
	switch {
	case l.kind == headerKind:
		m := thread.Members(l.entry, "cwd", "version", "parentSession")
		s.Version(m[1], maxVersion)
		t.Dir, t.Lineage.Original = cmp.Or(t.Dir, thread.Text(m[0])), cmp.Or(t.Lineage.Original, idIn(thread.Text(m[2])))
		s.Add(thread.Record{}, 0)
		return nil
	case !known:
		s.UnknownKind("kind", l.kind)
		flags = thread.IsUnknown
	case l.kind == nameKind:
		t.Title = strings.TrimSpace(thread.Text(thread.Members(l.entry, "name")[0]))
		t.ByPerson, t.Named = t.Title != "", cmp.Or(l.At, t.Facts.Last) // else it was taken back
	}
	own := thread.Hash("id " + l.id + " " + l.AtText) // the entry's in all sessions: ids are short
	r, parent := thread.Record{UUID: thread.Hash(l.id), Flags: flags, Key: own}, thread.Hash(l.parent)
	if l.id == "" { // the first version had none
		r.UUID, parent = thread.Hash(string(raw)), f.last
	}
	s.Content(&r, l, l.call())
	if r.Is(thread.IsBoundary) { // the session goes on with the summary, and behind it with what was kept
		f.kept[at] = [2]uint64{thread.Hash(thread.Text(thread.Members(l.entry, "firstKeptEntryId")[0])), parent}
		r.Key, parent = parent, 0
	}
	f.last, f.model = r.UUID, cmp.Or(l.model, f.model)
	if _, used := l.Spent(); used != (thread.Usage{}) {
		t.Facts.Spend(at, own, f.model, l.usage, &tokenNames)
	}
	s.Add(r, parent)
	return nil
}

func (f *format) Finish(s *thread.Scanning) {
	t := s.Table
	s.Link(func(uint64) bool { return false })
	t.End = t.Find(f.last)
	for at := range t.Walk(t.End, thread.WholeLine) {
		if kept, ok := f.kept[at]; ok { // the last one on the line: those of other branches hide nothing here
			t.Preserve(at, kept[0], kept[1])
			return
		}
	}
}

func (*format) Part(raw []byte, _ int64, _ int, _ func(int64) ([]byte, error)) (thread.Part, error) {
	return parse(raw)
}
