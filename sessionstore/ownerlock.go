package sessionstore

import (
	"context"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/disk/ownership"
)

// owners are the ownership locks of sessions that a store holds or waits for. A
// lock is taken for the first use of a call or a host, and given up with the last.
// The lock of a call has no record; hosts of Acquire have written one.
type owners struct {
	mu    sync.Mutex // guards the fields below
	locks map[lockKey]*ownerLock
}

// lockKey identifies an ownership lock.
type lockKey struct {
	id   string // of the session
	here bool   // the lock of this directory, not the lock of a workspace
}

// ownerLock is an ownership lock of one session.
type ownerLock struct {
	key lockKey

	turn chan struct{}   // holds a token while a goroutine takes the lock or gives it up
	held *ownership.Held // nil: not held; changed only by the goroutine that has the turn

	// Guarded by the mutex of owners.
	entered int // the number of goroutines that have the turn or wait for it
	uses    int // calls and hosts that need it
	hosts   int // the uses that began with Acquire
}

// ownerPlace holds the places of the ownership locks of a session, which may have both.
type ownerPlace struct {
	workspace *ownership.Session // of hosts that run it for a workspace; nil: none
	here      *ownership.Session // of this directory alone; nil: no host looks for it
	warned    bool               // that its state cannot be used
}

// enter waits for the turn at the lock of place: the right to take the lock
// and to give it up. leave ends the turn.
func (w *owners) enter(ctx context.Context, place ownership.Session) (*ownerLock, error) {
	key := lockKey{place.ID, place.Sessions != ""}
	w.mu.Lock()
	l := w.locks[key]
	if l == nil {
		l = &ownerLock{key: key, turn: make(chan struct{}, 1)}
		w.locks[key] = l
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

// enterHeld is enter for a user of the lock, without a context. The wait is short: while
// the lock is held, the goroutine that has the turn waits for nothing.
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

// left drops the entry of a lock that no goroutine holds or waits for.
func (w *owners) left(l *ownerLock) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.entered--; l.entered == 0 && l.held == nil && w.locks[l.key] == l {
		delete(w.locks, l.key)
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
	held := l.held
	l.held = nil
	if held == nil { // Close has released it
		return nil
	}
	return held.ReleaseTo(kept)
}

// forget removes the records of the locks of session id that this store holds.
func (w *owners) forget(id string) (err error) {
	for _, key := range []lockKey{{id, false}, {id, true}} {
		w.mu.Lock()
		l := w.locks[key]
		w.mu.Unlock()
		if l == nil {
			continue
		}
		w.enterHeld(l)
		if l.held != nil {
			err = joinErrors(err, l.held.RemoveOwner())
		}
		w.leave(l)
	}
	return err
}

// hosted reports whether session id was acquired by this store.
func (w *owners) hosted(id string) bool {
	return w.any(id, func(l *ownerLock) bool { return l.hosts > 0 })
}

// holds reports whether this store has a lock of session id.
func (w *owners) holds(id string) bool {
	return w.any(id, func(l *ownerLock) bool { return l.uses > 0 })
}

func (w *owners) any(id string, is func(*ownerLock) bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	workspace, here := w.locks[lockKey{id, false}], w.locks[lockKey{id, true}]
	return workspace != nil && is(workspace) || here != nil && is(here)
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

// release ends a host's use. After the last host's use, the record says so.
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
	return l.held.Retract()
}

// check reports whether the session of a lock may still be run.
func (w *owners) check(l *ownerLock) error {
	w.enterHeld(l)
	defer w.leave(l)
	if l.held == nil { // Close has released it
		return errClosed
	}
	return l.held.Check()
}

// close gives up all locks, which hosts hold. No call may be under way.
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
