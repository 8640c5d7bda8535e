package foreign

import "slices"

// follow lets the line go on from where the layout says. It is called ahead of each
// line.
func (f *codexFormat) follow(s *scanning) {
	if f.layout.isPlain() {
		return
	}
	if f.layout.own > 0 {
		f.borrow(s)
	}
	if f.marks == nil {
		f.marks = make([]codexMark, len(f.layout.joins))
	}
	for i, j := range f.layout.joins {
		if m := &f.marks[i]; !m.taken && s.offset >= j.from {
			*m = f.mark(s)
		}
	}
	for len(f.layout.joins) > 0 && s.offset >= f.layout.joins[0].at {
		f.settle(s.t)
		f.goBack(s, f.marks[0])
		f.layout.joins, f.marks = f.layout.joins[1:], f.marks[1:]
	}
}

// borrow marks the lines ahead of the thread's own ones as copied.
func (f *codexFormat) borrow(s *scanning) {
	switch {
	case f.isBorrowed(s):
		f.copy.on = true
	case !f.own:
		f.settle(s.t)
		f.own, f.copy.on = true, false
		s.t.thread.shared, s.t.cwd = len(f.turns), ""
	}
}

func (f *codexFormat) mark(s *scanning) codexMark {
	c := &s.t.facts.codex
	return codexMark{
		taken: true, cur: f.cur, since: f.since, turns: slices.Clone(f.turns), events: f.events,
		early: slices.Clone(f.early), prompts: slices.Clone(c.prompts.on), typed: slices.Clone(c.typed.on),
	}
}

func (f *codexFormat) goBack(s *scanning, m codexMark) {
	c := &s.t.facts.codex
	f.cur, f.since, f.turns, f.events, f.early = m.cur, m.since, m.turns, m.events, m.early
	f.stretch = int32(s.t.records.len())
	f.group++
	c.prompts.on, c.typed.on = m.prompts, m.typed
}
