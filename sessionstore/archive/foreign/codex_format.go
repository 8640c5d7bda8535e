package foreign

import (
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// codexFormat is how Codex writes. The lines of a file follow each other; a
// compaction begins anew, and a rollback goes on from where a turn began.
type codexFormat struct {
	cur     int32       // the record that the conversation ends with; -1: none yet
	turns   []codexTurn // prompts of the conversation
	events  bool        // an event told of a prompt
	since   int32       // the first record of the stretch with the first such event
	early   []uint64    // hashes of the prompts that events told of since stretch, and no item had
	stretch int32       // the first record behind the last answer
	group   uint64      // of the response
	total   int64       // tokens that the last count told
	copy    codexCopy   // of another session's lines
	spans   codexSpans  // of the items of the line that was read last
	line    uint64      // hash of what the line says
	layout  layout
	marks   []codexMark // by join: what stood before the place that it goes on from
	own     bool        // the lines that it was forked from are behind
	began   bool
}

// codexTurn is a prompt of the conversation.
type codexTurn struct {
	before int32 // the record that a rollback of it goes on from
	item   int32 // its record
	event  bool  // an event tells of it
}

// codexCopy tells of lines that were copied from another session: they begin with
// what that session tells of itself, and end with a pause.
type codexCopy struct {
	on   bool
	last time.Time
}

// maxPause is the longest pause between copied lines.
const maxPause = time.Second

// codexSpans are where the items of a compaction are in its line.
type codexSpans struct {
	offset int64
	length int
	items  [][2]int
	at     time.Time
}

// codexMark is how far a thread is at a place that a later segment goes on from.
type codexMark struct {
	taken, events  bool
	cur, since     int32
	turns          []codexTurn
	early          []uint64
	prompts, typed []int32
}

// isBorrowed reports whether the line is one of the thread that this one was forked
// from.
func (f *codexFormat) isBorrowed(s *scanning) bool { return s.offset < f.layout.own }

// append adds a record to the conversation.
func (f *codexFormat) append(s *scanning, r record) int32 {
	r.uuid = f.recordHash(s, int32(s.t.records.len()))
	before := f.cur
	f.cur = s.add(r, 0)
	s.t.records.at(f.cur).parent = before
	return f.cur
}

// recordHash returns the hash by which a record is found in another state of the file:
// that of its line, and for an item of a compaction of its place there.
func (f *codexFormat) recordHash(s *scanning, at int32) uint64 {
	n := uint64(0)
	for i := len(s.t.extras) - 1; i >= 0 && s.t.extras[i] == at-int32(n); i-- {
		n++
	}
	return max(1, f.line+n*0x9e3779b97f4a7c15)
}

// beforeTurn returns the record that a rollback of the turn after at goes on from:
// what the tool wrote ahead of a prompt goes with it, but not ahead of the first.
func (f *codexFormat) beforeTurn(t *table, at int32) int32 {
	if len(f.turns) == 0 {
		return at
	}
	for p := at; p >= 0; p = t.records.at(p).parent {
		r := t.records.at(p)
		if r.is(isUser) && !r.is(isPerson|hasResults|isSummary) {
			continue
		}
		if r.is(isNote) {
			continue
		}
		return p
	}
	return at
}

func (f *codexFormat) part(raw []byte, offset int64, n int) (part, error) {
	if n > 0 && f.spans.offset == offset && f.spans.length == len(raw) && n <= len(f.spans.items) {
		return f.nested(raw, n), nil
	}
	l, err := parseCodex(raw)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return l.item(), nil
	}
	f.spans = codexSpans{offset: offset, length: len(raw), at: l.at}
	items, _ := l.replacement()
	for item := range pyjson.Elements(items) {
		begin := cap(raw) - cap(item) // where item begins in raw: both go to the end of one array
		f.spans.items = append(f.spans.items, [2]int{begin, begin + len(item)})
	}
	if n > len(f.spans.items) {
		return nil, ErrChanged
	}
	return f.nested(raw, n), nil
}

// nested returns the nth item of a compaction, from 1.
func (f *codexFormat) nested(raw []byte, n int) codexItem {
	span := f.spans.items[n-1]
	body := raw[span[0]:span[1]]
	return codexItem{at: f.spans.at, kind: text(members(body, "type")[0]), body: body}
}

func (f *codexFormat) agent(_ string, t *table) (id, name, task string) {
	return t.thread.id, t.thread.agent, t.title
}
