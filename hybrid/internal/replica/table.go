package replica

import (
	"iter"
	"maps"
	"slices"
)

// Session returns what is known of a session.
func (t *Table) Session(id string) (Session, bool) {
	defer t.mu.Unlock()
	s, ok := t.lock().sessions[id]
	return s, ok
}

// Sessions returns what is known of all sessions, by their ids.
func (t *Table) Sessions() map[string]Session {
	defer t.mu.Unlock()
	return maps.Clone(t.lock().sessions)
}

// Put notes how a session stands.
func (t *Table) Put(s Session) {
	defer t.mu.Unlock()
	if t.lock().sessions[s.ID] != s {
		t.change(batch{Sessions: []Session{s}})
	}
}

// Reopen notes that a session needs a sync.
func (t *Table) Reopen(id string) {
	defer t.mu.Unlock()
	if s, ok := t.lock().sessions[id]; ok && s.State != Open {
		t.change(batch{Sessions: []Session{{ID: id, State: Open}}})
	}
}

// Entries yields the catalogue as it was read last, in any order.
func (t *Table) Entries() iter.Seq[Entry] {
	defer t.mu.Unlock()
	return slices.Values(slices.Collect(maps.Values(t.lock().entries)))
}

// Entry returns an entry of the catalogue as it was read last.
func (t *Table) Entry(sid string) (Entry, bool) {
	defer t.mu.Unlock()
	e, ok := t.lock().entries[sid]
	return e, ok
}

// Cursor returns up to where the catalogue was read.
func (t *Table) Cursor() Cursor {
	defer t.mu.Unlock()
	return t.lock().cursor
}

// Advance notes the entries that were read, and up to where the catalogue is
// known by them.
func (t *Table) Advance(entries []Entry, to Cursor) {
	defer t.mu.Unlock()
	if known := t.lock(); known.cursor == to && !known.news(entries) {
		return
	}
	t.change(batch{Entries: entries, Cursor: &to})
}

// news reports whether an entry is not known.
func (c *content) news(entries []Entry) bool {
	return slices.ContainsFunc(entries, func(e Entry) bool { return c.entries[e.SID] != e })
}

// Void forgets everything: the catalogue is not the one that it was.
func (t *Table) Void() {
	defer t.mu.Unlock()
	t.lock()
	t.change(batch{Void: true})
}
