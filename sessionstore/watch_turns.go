package sessionstore

import (
	"container/list"
	"time"
)

// turns decides which sessions to look at, so that the work is spread evenly
// and everyone's turn comes once in a period.
type turns struct {
	period time.Duration
	last   time.Time // of the call of due before
	queue  list.List // of *turn, the one looked at longest ago first
	at     map[string]*list.Element
}

type turn struct {
	id   string
	last time.Time
}

func newTurns(period time.Duration, now time.Time) *turns {
	return &turns{period: period, last: now, at: map[string]*list.Element{}}
}

// add adds a session that was looked at now.
func (t *turns) add(id string, now time.Time) {
	if t.at[id] == nil {
		t.at[id] = t.queue.PushBack(&turn{id, now})
	}
}

func (t *turns) remove(id string) {
	if e := t.at[id]; e != nil {
		t.queue.Remove(e)
		delete(t.at, id)
	}
}

// due returns the sessions to look at now: their share for the time since the
// call before, and all whose last turn was a period ago.
func (t *turns) due(now time.Time) []string {
	n := t.queue.Len()
	share := n
	if passed := now.Sub(t.last); passed < t.period {
		share = int((int64(n)*int64(passed) + int64(t.period) - 1) / int64(t.period))
	}
	t.last = now
	var ids []string
	for range n {
		e := t.queue.Front()
		next := e.Value.(*turn)
		if len(ids) >= share && now.Sub(next.last) < t.period {
			break
		}
		next.last = now
		t.queue.MoveToBack(e)
		ids = append(ids, next.id)
	}
	return ids
}
