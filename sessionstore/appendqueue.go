package sessionstore

import (
	"slices"
	"sync"
)

// queuedAppend is one call of Append that waits to be written.
type queuedAppend struct {
	rows []Message
	done bool  // another call has written rows, or failed to; guarded by the session's gate
	err  error // the error of that write
}

// appendQueue holds the calls of Append that wait for one session. The zero
// appendQueue is empty.
type appendQueue struct {
	mu      sync.Mutex // guards the fields below
	waiting []*queuedAppend
}

func (q *appendQueue) add(a *queuedAppend) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, a)
}

// remove removes a call that gave up. It does nothing when the call does not
// wait any more.
func (q *appendQueue) remove(a *queuedAppend) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(other *queuedAppend) bool { return other == a })
}

// takeAll removes all calls and returns them in their order.
func (q *appendQueue) takeAll() []*queuedAppend {
	q.mu.Lock()
	defer q.mu.Unlock()
	batch := q.waiting
	q.waiting = nil
	return batch
}
