package sessionstore

import (
	"context"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/ownership"
)

// owners are the ownership locks of sessions that a store holds or waits for. A
// lock is taken for the first use of a call or a host, and given up with the last.
// The lock of a call has no record; hosts of Acquire have written one.
type owners struct {
	mu    sync.Mutex // guards what follows
	locks map[string]*ownerLock
}

// ownerLock is the ownership lock of one session.
type ownerLock struct {
	id string

	turn chan struct{}   // holds a token while somebody takes it or gives it up
	held *ownership.Held // nil: not held; changed only by whoever has the turn
	here *ownership.Held // a host's lock of this directory beside held; nil: none

	// Guarded by the mutex of owners.
	entered int // how many have the turn or wait for it
	uses    int // calls and hosts that need it
	hosts   int // those of them that began with Acquire
}

// ownerPlace is where the ownership lock of a session is.
type ownerPlace struct {
	ownership.Session
	noLock bool // the session has no such lock
	native bool // no host looks for a lock of this directory beside it
	warned bool // that its state cannot be used
}

// enter waits for the turn at the lock of session id: the right to take the lock
// and to give it up. leave ends the turn.
func (w *owners) enter(ctx context.Context, id string) (*ownerLock, error) {
	w.mu.Lock()
	l := w.locks[id]
	if l == nil {
		l = &ownerLock{id: id, turn: make(chan struct{}, 1)}
		w.locks[id] = l
	}
	l.entered++
	w.mu.Unlock()
	select {
	case l.turn <- struct{}{}:
		return l, nil
	case <-ctx.Done():
		w.left(l)
		return nil, ctx.Err()
	}
}

// enterHeld is enter for a user of the lock, without a context. The wait is
// short: while the lock is held, nobody who has the turn waits for anything.
func (w *owners) enterHeld(l *ownerLock) {
	w.mu.Lock()
	l.entered++
	w.mu.Unlock()
	l.turn <- struct{}{}
}

func (w *owners) leave(l *ownerLock) {
	<-l.turn
	w.left(l)
}

// left drops the entry of a lock that nobody holds or waits for.
func (w *owners) left(l *ownerLock) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.entered--; l.entered == 0 && l.held == nil && w.locks[l.id] == l {
		delete(w.locks, l.id)
	}
}

// ref begins a use of a lock that is held. The caller has the turn.
func (w *owners) ref(l *ownerLock) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l.uses++
}

func (w *owners) refHost(l *ownerLock) {
	w.ref(l)
	w.mu.Lock()
	defer w.mu.Unlock()
	l.hosts++
}

// endUse reports whether a use was the last one.
func (w *owners) endUse(l *ownerLock) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	l.uses--
	return l.uses == 0
}

// giveUpUnused gives up a lock that was taken for a use that did not begin.
func (w *owners) giveUpUnused(l *ownerLock) error {
	w.mu.Lock()
	used := l.uses > 0
	w.mu.Unlock()
	if used {
		return nil
	}
	return l.giveUp(nil)
}

// giveUp releases the lock, and leaves its directory open in kept, which may be
// nil. The caller has the turn.
func (l *ownerLock) giveUp(kept *ownership.State) error {
	held, err := l.held, l.leaveHere()
	l.held = nil
	if held == nil { // Close has released it
		return err
	}
	return joinErrors(err, held.ReleaseTo(kept))
}

// leaveHere gives up the lock of this directory. The caller has the turn.
func (l *ownerLock) leaveHere() error {
	here := l.here
	l.here = nil
	if here == nil {
		return nil
	}
	return here.Release()
}

// all returns the locks that are held.
func (l *ownerLock) all() []*ownership.Held {
	if l.here == nil {
		return []*ownership.Held{l.held}
	}
	return []*ownership.Held{l.held, l.here}
}

// forget removes the records of the locks of session id that this store holds.
func (w *owners) forget(id string) (err error) {
	w.mu.Lock()
	l := w.locks[id]
	w.mu.Unlock()
	if l == nil {
		return nil
	}
	w.enterHeld(l)
	defer w.leave(l)
	for _, held := range l.all() {
		if held != nil {
			err = joinErrors(err, held.RemoveOwner())
		}
	}
	return err
}

// hosted reports whether session id was acquired by this store.
func (w *owners) hosted(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.locks[id]
	return l != nil && l.hosts > 0
}

// holds reports whether this store has the lock of session id.
func (w *owners) holds(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.locks[id]
	return l != nil && l.uses > 0
}

// unref ends a call's use. The last use gives the lock up. Its checked directory
// then stays open in kept, which may be nil. l may be nil.
func (w *owners) unref(l *ownerLock, kept *ownership.State) error {
	if l == nil {
		return nil
	}
	w.enterHeld(l)
	defer w.leave(l)
	if !w.endUse(l) {
		return nil
	}
	return l.giveUp(kept)
}

// release ends a host's use. After the last host's, the record says so.
func (w *owners) release(l *ownerLock) error {
	w.enterHeld(l)
	defer w.leave(l)
	w.mu.Lock()
	l.hosts--
	hosted := l.hosts > 0
	w.mu.Unlock()
	switch {
	case w.endUse(l):
		return l.giveUp(nil)
	case l.held == nil || hosted:
		return nil
	}
	return joinErrors(l.leaveHere(), l.held.Retract())
}

// close gives up all locks, those of hosts. No call may be under way.
func (w *owners) close() error {
	w.mu.Lock()
	var held []*ownerLock
	for _, l := range w.locks {
		l.entered++
		held = append(held, l)
	}
	w.mu.Unlock()
	var err error
	for _, l := range held {
		l.turn <- struct{}{}
		err = joinErrors(err, l.giveUp(nil))
		w.leave(l)
	}
	return err
}
