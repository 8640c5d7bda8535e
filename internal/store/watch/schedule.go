package watch

import (
	"container/list"
	"time"
)

// schedule decides which sessions to poll, so that the work is spread evenly and each
// session has a turn once in a period.
type schedule struct {
	period time.Duration
	last   time.Time // of the call of due before
	queue  list.List // of *turn, the least recently polled first
	at     map[string]*list.Element
}

type turn struct {
	id   string
	last time.Time
}

func newSchedule(period time.Duration, now time.Time) *schedule {
	return &schedule{period: period, last: now, at: map[string]*list.Element{}}
}

// add adds a session that was polled now.
func (s *schedule) add(id string, now time.Time) {
	if s.at[id] == nil {
		s.at[id] = s.queue.PushBack(&turn{id, now})
	}
}

func (s *schedule) remove(id string) {
	if e := s.at[id]; e != nil {
		s.queue.Remove(e)
		delete(s.at, id)
	}
}

// due returns the sessions to poll now: their share for the time since the call before,
// and all whose last turn was a period ago.
func (s *schedule) due(now time.Time) []string {
	n := s.queue.Len()
	share := n
	if passed := now.Sub(s.last); passed < s.period {
		share = int((int64(n)*int64(passed) + int64(s.period) - 1) / int64(s.period))
	}
	s.last = now
	var ids []string
	for range n {
		e := s.queue.Front()
		next := e.Value.(*turn)
		if len(ids) >= share && now.Sub(next.last) < s.period {
			break
		}
		next.last = now
		s.queue.MoveToBack(e)
		ids = append(ids, next.id)
	}
	return ids
}
