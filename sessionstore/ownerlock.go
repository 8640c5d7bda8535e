package sessionstore

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/lockqueue"
	"github.com/amplifier-go/sessionstorage/internal/ownership"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// How a store keeps an ownership lock that no call needs any more.
const (
	idleFor   = 200 * time.Millisecond // a burst of calls takes it once
	idlePoll  = 5 * time.Millisecond   // how often it looks whether somebody waits
	idleLocks = 8                      // of how many sessions at most
)

// owners are the ownership locks of sessions that a store holds or waits for.
//
//	free ── own, Acquire ──> in use ── the last use ends ──> idle
//	  ^                        ^  │                          │ │
//	  │                        └──│────────── own, Acquire ──┘ │
//	  └───────────────────────────┴────────────────────────────┘
//	    somebody waits, a host's last      200 ms, somebody waits,
//	    use ends, the session is gone      a ninth idle one, Close
//
// A lock that is in use by calls or idle has no record; hosts of Acquire have
// written one. One goroutine looks after the idle locks, while there are any.
type owners struct {
	base *sessiondir.Base
	log  *slog.Logger

	mu      sync.Mutex // guards what follows
	locks   map[string]*ownerLock
	idle    []*ownerLock // the one that was used longest ago first
	closed  bool
	running bool          // the goroutine
	stop    chan struct{} // ends it
	done    sync.WaitGroup
}

// ownerLock is the ownership lock of one session.
type ownerLock struct {
	id   string
	line lockqueue.Line // where this store and others wait for it

	turn chan struct{}   // holds a token while somebody takes it or gives it up
	held *ownership.Held // nil: not held; changed only by whoever has the turn

	// Guarded by the mutex of owners.
	entered int       // how many have the turn or wait for it
	uses    int       // calls and hosts that need it
	hosts   int       // those of them that began with Acquire
	since   time.Time // when it became idle
}

// ownerPlace is where the ownership lock of a session is.
type ownerPlace struct {
	ownership.Session
	noLock bool // the session has no such lock
	warned bool // that its state cannot be used
}

func newOwners(base *sessiondir.Base, log *slog.Logger) *owners {
	return &owners{base: base, log: log, locks: map[string]*ownerLock{}, stop: make(chan struct{})}
}

// enter waits for the turn at the lock of session id: the right to take the lock
// and to give it up. leave ends the turn.
func (w *owners) enter(ctx context.Context, id string) (*ownerLock, error) {
	w.mu.Lock()
	l := w.locks[id]
	if l == nil {
		l = &ownerLock{id: id, line: w.base.OwnershipLine(id), turn: make(chan struct{}, 1)}
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
	w.idle = slices.DeleteFunc(w.idle, func(i *ownerLock) bool { return i == l })
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
	w.idle = slices.DeleteFunc(w.idle, func(i *ownerLock) bool { return i == l })
	w.mu.Unlock()
	if used {
		return nil
	}
	return l.giveUp()
}

// giveUp releases the lock. The caller has the turn.
func (l *ownerLock) giveUp() error {
	held := l.held
	l.held = nil
	if held == nil { // Close has released it
		return nil
	}
	return held.Release()
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
	return l != nil && (l.uses > 0 || slices.Contains(w.idle, l))
}
