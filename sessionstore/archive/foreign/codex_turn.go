package foreign

import (
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// maxEventsBehind is how many prompts may stand between one and its event.
const maxEventsBehind = 16

// prompted takes an event that tells of a prompt: of the item with its text, or else,
// once the model answers, of the last one that looks typed; see endStretch.
func (f *codexFormat) prompted(s *scanning, it codexItem) {
	if !f.events {
		f.events, f.since = true, f.stretch
	}
	said := hash(firstOf(it.prompt(), "image"))
	for i := len(f.turns) - 1; i >= max(0, len(f.turns)-maxEventsBehind); i-- {
		if t := &f.turns[i]; !t.event && s.t.records.at(t.item).key == said {
			t.event = true
			return
		}
	}
	for at := f.stretch; at < int32(s.t.records.len()); at++ {
		r := s.t.records.at(at)
		if r.is(isUser) && !r.is(isPerson|isSummary|hasResults) && r.key == said {
			r.flags |= f.byPerson()
			f.turns = append(f.turns, codexTurn{f.beforeTurn(s.t, r.parent), at, true})
			return
		}
	}
	f.early = append(f.early, said)
}

// byPerson returns the flags of a prompt. One that was copied is in the session that
// it was copied from.
func (f *codexFormat) byPerson() flags {
	if f.copy.on {
		return isPerson
	}
	return isPerson | isPrompt
}

// awaited reports whether an event told of an item before it came.
func (f *codexFormat) awaited(r record) bool {
	i := slices.Index(f.early, r.key)
	if i < 0 || !r.is(isUser) || r.is(isSummary|hasResults) {
		return false
	}
	f.early = slices.Delete(f.early, i, i+1)
	return true
}

// endStretch ends the items between two answers of the model, ahead of the record at.
// Events with no item of their text tell of the last ones that look typed.
func (f *codexFormat) endStretch(at int32) {
	for i := len(f.turns) - 1; i >= 0 && len(f.early) > 0 && f.turns[i].item >= f.stretch; i-- {
		if t := &f.turns[i]; !t.event {
			t.event, f.early = true, f.early[1:]
		}
	}
	f.early, f.stretch = f.early[:0], at
}

// settle drops the prompts that no event tells of, since the first stretch with an
// event: the tool wrote them. Older versions, which wrote none, may have written what
// stands before. What a sub-agent is asked has no events.
func (f *codexFormat) settle(t *table) {
	f.endStretch(int32(t.records.len()))
	if !f.events || t.thread.spawner != "" {
		return
	}
	f.turns = slices.DeleteFunc(f.turns, func(turn codexTurn) bool {
		if turn.event || turn.item < f.since {
			return false
		}
		t.records.at(turn.item).flags &^= isPerson | isPrompt
		return true
	})
}

// endCopy notes the pause behind copied lines.
func (f *codexFormat) endCopy(s *scanning, l codexLine) {
	t := s.t
	if f.copy.on && !f.isBorrowed(s) && !l.at.IsZero() && l.at.Sub(f.copy.last) > maxPause {
		f.copy.on = false
		f.settle(t)
		t.thread.shared = len(f.turns)
	}
	if !l.at.IsZero() {
		f.copy.last = l.at
	}
}

// rollBack drops the last turns.
func (f *codexFormat) rollBack(s *scanning, it codexItem) {
	n, _ := pyjson.Int(it.get("num_turns")[0])
	if n <= 0 {
		return
	}
	s.t.facts.codex.prompts.drop(n)
	s.t.facts.codex.typed.drop(n)
	f.settle(s.t)
	if len(f.turns) == 0 {
		return
	}
	first := len(f.turns) - int(min(n, int64(len(f.turns))))
	f.cur, f.turns = f.turns[first].before, f.turns[:first]
	f.group++
}
