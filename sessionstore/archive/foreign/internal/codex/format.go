// Package codex is the format of the Codex CLI: the places of its histories, the content of
// their lines, and the making of such lines.
package codex

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// format is how Codex writes a file. The lines of a file follow each other; a
// compaction begins anew, and a rollback goes on from where a turn began.
type format struct {
	cur     int32     // the record that the conversation ends with; -1: none yet
	turns   []turn    // prompts of the conversation
	events  bool      // an event named a prompt
	since   int32     // the first record of the stretch with the first such event
	early   []uint64  // hashes of the prompts that events named since stretch, and no item had
	stretch int32     // the first record behind the last answer
	group   uint64    // of the response
	total   int64     // tokens that the last count had
	copy    copyState // of another session's lines
	spans   spans     // of the items of the line that was read last
	line    uint64    // hash of the content of the line
	summary summary   // the last answer, which may be the summary of a compaction
	layout  thread.Layout
	marks   []mark // by join: the state before the place that it goes on from
	own     bool   // the lines that it was forked from are behind
	began   bool
	facts   Facts
	base    base
	origin  iter.Seq2[thread.Line, error] // the lines of the session that lines were copied from, where it is there
}

// summary is an answer that may be the summary of a compaction.
type summary struct {
	at   int32 // its record
	text string
}

// base is the beginning that a file of Codex names: it is in the file id of a thread or of
// a segment, before an ordinal and an offset.
type base struct {
	id      string
	ordinal int64
	offset  int64
}

// turn is a prompt of the conversation.
type turn struct {
	before int32 // the record that a rollback of it goes on from
	item   int32 // its record
	event  bool  // an event names it
}

// copyState describes lines that were copied from another session: they begin with the
// metadata of that session. They end ahead of the first message that it has not, or, where it
// is not there, with a pause.
type copyState struct {
	on   bool
	last time.Time
	said []uint64 // the messages of that session that were not copied yet
}

// maxPause is the longest pause between copied lines.
const maxPause = time.Second

// spans are where the items of a compaction are in its line.
type spans struct {
	offset int64
	length int
	items  [][2]int
	at     time.Time
}

// mark is how far a thread is at a place that a later segment goes on from.
type mark struct {
	taken, events  bool
	cur, since     int32
	turns          []turn
	early          []uint64
	prompts, typed []int32
}

// isBorrowed reports whether the line is one of the thread that this one was forked
// from.
func (f *format) isBorrowed(s *thread.Scanning) bool { return s.Offset < f.layout.Own }

// append adds a record to the conversation.
func (f *format) append(s *thread.Scanning, r thread.Record) int32 {
	r.UUID = f.recordHash(s, int32(s.Table.Records.Len()))
	before := f.cur
	f.cur = s.Add(r, 0)
	s.Table.Records.At(f.cur).Parent = before
	return f.cur
}

// recordHash returns the hash by which a record is found in another state of the file: the
// hash of its line, and for an item of a compaction also of its place there.
func (f *format) recordHash(s *thread.Scanning, at int32) uint64 {
	n := uint64(0)
	for i := len(s.Table.Extras) - 1; i >= 0 && s.Table.Extras[i] == at-int32(n); i-- {
		n++
	}
	return max(1, f.line+n*0x9e3779b97f4a7c15)
}

// beforeTurn returns the record that a rollback of the turn after at goes on from. The
// rollback also drops the lines that the tool wrote ahead of a prompt, but not the lines
// ahead of the first prompt.
func (f *format) beforeTurn(t *thread.Table, at int32) int32 {
	if len(f.turns) == 0 {
		return at
	}
	for p := at; p >= 0; p = t.Records.At(p).Parent {
		r := t.Records.At(p)
		if !r.Is(thread.IsNote) && (!r.Is(thread.IsUser) || r.Is(thread.IsPerson|thread.HasResults|thread.IsSummary)) {
			return p
		}
	}
	return at
}

func (f *format) Part(raw []byte, offset int64, n int, _ func(int64) ([]byte, error)) (thread.Part, error) {
	if n > 0 && f.spans.offset == offset && f.spans.length == len(raw) && n <= len(f.spans.items) {
		return f.nested(raw, n), nil
	}
	l, err := parse(raw)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return l.item(), nil
	}
	f.spans = spans{offset: offset, length: len(raw), at: l.at}
	items, _ := l.replacement()
	for item := range pyjson.Elements(items) {
		begin := cap(raw) - cap(item) // where item begins in raw: both go to the end of one array
		f.spans.items = append(f.spans.items, [2]int{begin, begin + len(item)})
	}
	if n > len(f.spans.items) {
		return nil, thread.ErrChanged
	}
	return f.nested(raw, n), nil
}

// nested returns the nth item of a compaction, from 1.
func (f *format) nested(raw []byte, n int) item {
	span := f.spans.items[n-1]
	body := raw[span[0]:span[1]]
	return item{at: f.spans.at, kind: thread.Text(thread.Members(body, "type")[0]), body: body}
}

func (f *format) Agent(_ string, t *thread.Table) (id, name, task string) {
	return t.Lineage.ID, t.Lineage.Agent, t.Title
}

// maxEventsBehind is the largest number of prompts between a prompt and its event.
const maxEventsBehind = 16

// prompted takes an event that names a prompt: the item with its text, or else, once the
// model answers, the last item that looks typed; see endStretch.
func (f *format) prompted(s *thread.Scanning, it item) {
	if !f.events {
		f.events, f.since = true, f.stretch
	}
	said := thread.Hash(cmp.Or(it.Prompt(), "image"))
	for i := len(f.turns) - 1; i >= max(0, len(f.turns)-maxEventsBehind); i-- {
		if t := &f.turns[i]; !t.event && s.Table.Records.At(t.item).Key == said {
			t.event = true
			return
		}
	}
	for at := f.stretch; at < int32(s.Table.Records.Len()); at++ {
		r := s.Table.Records.At(at)
		if r.Is(thread.IsUser) && !r.Is(thread.IsPerson|thread.IsSummary|thread.HasResults) && r.Key == said {
			r.Flags |= f.byPerson()
			f.turns = append(f.turns, turn{f.beforeTurn(s.Table, r.Parent), at, true})
			return
		}
	}
	f.early = append(f.early, said)
}

// byPerson returns the flags of a prompt. A copied prompt is in the session that it was
// copied from.
func (f *format) byPerson() thread.Flags {
	if f.copy.on {
		return thread.IsPerson
	}
	return thread.IsPerson | thread.IsPrompt
}

// awaited reports whether an event named an item before it came.
func (f *format) awaited(r thread.Record) bool {
	i := slices.Index(f.early, r.Key)
	if i < 0 || !r.Is(thread.IsUser) || r.Is(thread.IsSummary|thread.HasResults) {
		return false
	}
	f.early = slices.Delete(f.early, i, i+1)
	return true
}

// endStretch ends the items between two answers of the model, ahead of the record at.
// Events with no item of their text name the last items that look typed.
func (f *format) endStretch(at int32) {
	for i := len(f.turns) - 1; i >= 0 && len(f.early) > 0 && f.turns[i].item >= f.stretch; i-- {
		if t := &f.turns[i]; !t.event {
			t.event, f.early = true, f.early[1:]
		}
	}
	f.early, f.stretch = f.early[:0], at
}

// settle drops the prompts that no event names, since the first stretch with an event: the
// tool wrote them. Prompts before that stretch stay, because older versions, which wrote no
// events, may have written them. The prompts of a sub-agent have no events.
func (f *format) settle(t *thread.Table) {
	f.endStretch(int32(t.Records.Len()))
	if !f.events || t.Lineage.Spawner != "" {
		return
	}
	f.turns = slices.DeleteFunc(f.turns, func(turn turn) bool {
		if turn.event || turn.item < f.since {
			return false
		}
		t.Records.At(turn.item).Flags &^= thread.IsPerson | thread.IsPrompt
		return true
	})
}

// endCopy notes the pause behind copied lines.
func (f *format) endCopy(s *thread.Scanning, l line) {
	t := s.Table
	if f.copy.on && !f.isBorrowed(s) && f.isOwn(l) {
		f.copy.on = false
		f.settle(t)
		t.Lineage.Shared = len(f.turns)
	}
	if !l.at.IsZero() {
		f.copy.last = l.at
	}
}

// isOwn reports whether a line behind copied ones is the session's own.
func (f *format) isOwn(l line) bool {
	if f.copy.said == nil {
		return !l.at.IsZero() && l.at.Sub(f.copy.last) > maxPause
	}
	said := l.spoken()
	i := slices.Index(f.copy.said, said)
	f.copy.said = f.copy.said[i+1:]
	return said != 0 && i < 0
}

// beginCopy begins the copied lines.
func (f *format) beginCopy() {
	f.copy.on = true
	if f.origin == nil {
		return
	}
	for in, err := range f.origin {
		l, damaged := parse(in.Bytes)
		if said := l.spoken(); err == nil && damaged == nil && said != 0 {
			f.copy.said = append(f.copy.said, said)
		}
	}
}

// spoken returns a hash of what a person or the model says in a line, 0 for another line.
func (l line) spoken() uint64 {
	it := l.item()
	role := thread.Text(it.get("role")[0])
	if it.kind == "user_message" { // which may stand ahead of its prompt
		return thread.Hash("user" + it.Prompt())
	}
	if it.kind != "message" || role != "assistant" && !it.said(role == "user").Is(thread.IsPerson) {
		return 0
	}
	return thread.Hash(role + strings.Join(it.User().Said, "\n"))
}

// rollBack drops the last turns.
func (f *format) rollBack(s *thread.Scanning, it item) {
	n, _ := pyjson.Int(it.get("num_turns")[0])
	if n <= 0 {
		return
	}
	f.facts.Prompts.drop(n)
	f.facts.Typed.drop(n)
	f.settle(s.Table)
	if len(f.turns) == 0 {
		return
	}
	first := len(f.turns) - int(min(n, int64(len(f.turns))))
	f.cur, f.turns = f.turns[first].before, f.turns[:first]
	f.group++
}

// follow lets the line go on from where the layout says. It is called ahead of each
// line.
func (f *format) follow(s *thread.Scanning) {
	if f.layout.IsPlain() {
		return
	}
	if f.layout.Own > 0 {
		f.borrow(s)
	}
	if f.marks == nil {
		f.marks = make([]mark, len(f.layout.Joins))
	}
	for i, j := range f.layout.Joins {
		if m := &f.marks[i]; !m.taken && s.Offset >= j[1] {
			*m = f.mark(s)
		}
	}
	for len(f.layout.Joins) > 0 && s.Offset >= f.layout.Joins[0][0] {
		f.settle(s.Table)
		f.goBack(s, f.marks[0])
		f.layout.Joins, f.marks = f.layout.Joins[1:], f.marks[1:]
	}
}

// borrow marks the lines ahead of the thread's own ones as copied.
func (f *format) borrow(s *thread.Scanning) {
	switch {
	case f.isBorrowed(s):
		f.copy.on = true
	case !f.own:
		f.settle(s.Table)
		f.own, f.copy.on = true, false
		s.Table.Lineage.Shared, s.Table.Dir = len(f.turns), ""
	}
}

func (f *format) mark(s *thread.Scanning) mark {
	c := &f.facts
	return mark{
		taken: true, cur: f.cur, since: f.since, turns: slices.Clone(f.turns), events: f.events,
		early: slices.Clone(f.early), prompts: slices.Clone(c.Prompts.On), typed: slices.Clone(c.Typed.On),
	}
}

func (f *format) goBack(s *thread.Scanning, m mark) {
	c := &f.facts
	f.cur, f.since, f.turns, f.events, f.early = m.cur, m.since, m.turns, m.events, m.early
	f.stretch = int32(s.Table.Records.Len())
	f.group++
	c.Prompts.On, c.Typed.On = m.prompts, m.typed
}

// Facts are the facts in the lines beside the conversation.
type Facts struct {
	Prompts   Stack // events of prompts
	Typed     Stack // items that a person typed
	Responses int
	others    int // of them: made by an export, or copied from another session
	Calls     int
	Results   int
	Shell     int
	Pending   []uint64       // calls that have a result sooner or later: hashes of their ids
	Turns     map[string]int // by model
	Total     [3]*int64      // of the last count: input, output, cached input
	base      [3]int64       // the part of Total that was copied from another session
	model     string         // of the last turn
}

// FactsOf returns the facts of a file that was read.
func FactsOf(f thread.Format) *Facts { return &f.(*format).facts }

// Stack are prompts, of which a rollback takes the last ones.
type Stack struct {
	All int
	On  []int32 // records
}

func (s *Stack) push(at int32) { s.All, s.On = s.All+1, append(s.On, at) }

func (s *Stack) drop(n int64) { s.On = s.On[:len(s.On)-int(min(n, int64(len(s.On))))] }

// maxTurnModels is how many models are kept apart.
const maxTurnModels = 100

func (c *Facts) turn(model string) {
	if model == "" {
		return
	}
	c.model = model
	if c.Turns == nil {
		c.Turns = map[string]int{}
	}
	if _, known := c.Turns[model]; !known && len(c.Turns) >= maxTurnModels {
		model = thread.OtherName
	}
	c.Turns[model]++
}

// used takes the totals of a count. A count without them changes nothing.
func (c *Facts) used(totals []byte, copied bool) {
	if pyjson.KindOf(totals) != pyjson.Object {
		return
	}
	m := thread.Members(totals, "input_tokens", "output_tokens", "cached_input_tokens")
	for i := range c.Total {
		c.Total[i] = nil
		if v, ok := pyjson.Int(m[i]); ok {
			c.Total[i] = &v
			if copied {
				c.base[i] = v
			}
		}
	}
}
