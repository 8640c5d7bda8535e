package hybrid

import "github.com/amplifier-go/sessionstorage/hybrid/internal/replica"

// queue holds the sessions that the worker is to sync, each once. Those written
// here go before those that may have changed in the cloud alone. A session that
// is added while it is synced waits until that sync has ended. The zero queue is
// empty.
type queue struct {
	written, hinted []string                  // in the order of their arrival; some wait no more
	waiting         map[string]replica.Reason // why each waiting session is synced
	running         map[string]bool           // sessions that are synced now
}

// add adds a session. One that waits already is synced for both reasons.
func (q *queue) add(id string, why replica.Reason) {
	if q.waiting == nil {
		q.waiting, q.running = map[string]replica.Reason{}, map[string]bool{}
	}
	had, waits := q.waiting[id]
	if waits {
		q.waiting[id] = max(had, why)
		if why == replica.Written && had == replica.Hinted {
			q.written = append(q.written, id) // it goes first now
		}
		return
	}
	q.waiting[id] = why
	q.line(id, why)
}

// line puts a waiting session at the end of its line, unless it is running.
func (q *queue) line(id string, why replica.Reason) {
	switch {
	case q.running[id]:
	case why == replica.Written:
		q.written = append(q.written, id)
	default:
		q.hinted = append(q.hinted, id)
	}
}

// next returns the session to sync next, which counts as running until end is
// called. ok is false when none waits.
func (q *queue) next() (id string, why replica.Reason, ok bool) {
	for _, line := range []*[]string{&q.written, &q.hinted} {
		for len(*line) > 0 {
			id, *line = (*line)[0], (*line)[1:]
			if why, ok = q.waiting[id]; ok && !q.running[id] {
				delete(q.waiting, id)
				q.running[id] = true
				return id, why, true
			}
		}
	}
	return "", 0, false
}

// drop removes a session from those that wait.
func (q *queue) drop(id string) { delete(q.waiting, id) }

// end notes that the sync of a session has ended.
func (q *queue) end(id string) {
	delete(q.running, id)
	if why, waits := q.waiting[id]; waits {
		q.line(id, why)
	}
}

// rest returns the sessions that wait.
func (q *queue) rest() map[string]replica.Reason { return q.waiting }
