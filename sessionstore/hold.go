package sessionstore

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/disk/ownership"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
)

// Owner names the host that runs a session, for display to others.
type Owner struct {
	App   string            // name of the program; "": the name of the executable
	Extra map[string]string // further facts for display, never secrets
}

// Acquire takes the ownership lock of a root session, as a running host of the newer
// Python tools does, and announces the owner to them. While the lock is held, no other
// host or store writes the transcript. Its workspace is Options.Workspace, else the
// metadata's working_dir. The session need not exist yet.
//
// The Python tools look for sessions in the default directory of the workspace alone. In
// any other directory, as with a copy of a session, and without Options.Workspace,
// Acquire takes a lock of that directory: it excludes other users of this library there,
// but no program from the original.
//
// Acquire waits for a call of this library that writes the session at that moment, in
// this process or another. The error Is [ErrLocked] when another host runs the session,
// or another holder keeps the lock for longer than 10 s; [ErrFenced] when the session is
// being transferred; and errors.ErrUnsupported where there is no such lock: for
// sub-sessions and other ids that are not letters, digits and hyphens, for a session
// without a workspace, and on Windows.
//
// Nested calls count; the last [Hold.Release] releases the lock. [Store.Close] releases
// the remaining locks.
func (st *Store) Acquire(ctx context.Context, id string, o Owner) (*Hold, error) {
	if err := checkID(id); err != nil {
		return nil, wrap("acquire", id, err)
	}
	if err := st.admit(ctx); err != nil {
		return nil, wrap("acquire", id, err)
	}
	defer st.calls.Done()
	hold := &Hold{st: st, s: st.cache.call(id)}
	defer st.cache.end(hold.s)
	if err := hold.take(ctx, o); err != nil {
		return nil, wrap("acquire", id, joinErrors(err, hold.giveBack()))
	}
	return hold, nil
}

// Hold is the right to run a session, which [Store.Acquire] returns. Its methods may
// be called by many goroutines. The zero Hold holds nothing: its methods return nil.
type Hold struct {
	st    *Store
	s     *session
	locks []*ownerLock // in the order in which they were taken

	mu       sync.Mutex // guards the fields below
	released bool
	err      error // of the release
}

// Release releases the lock. A second Release does nothing, and returns the result of the
// first.
func (h *Hold) Release() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.released && h.st != nil {
		h.released, h.err = true, wrap("release", h.s.id, h.giveBack())
		h.st.cache.unhost(h.s)
	}
	return h.err
}

func (h *Hold) giveBack() (err error) {
	for _, l := range slices.Backward(h.locks) {
		err = joinErrors(err, l.retract())
	}
	return err
}

// Check returns nil while the session may be run. The error Is [ErrFenced] when the
// transfer of the session to another host has begun: a host then ends its turn and
// releases the session. It Is [ErrClosed] after [Hold.Release] and [Store.Close].
func (h *Hold) Check() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.locks {
		err := errReleased
		if !h.released && h.st != nil {
			err = ownershipError(l.check())
		}
		if err != nil {
			return wrap("check the hold of", h.s.id, err)
		}
	}
	return nil
}

var errReleased = limits.Errorf(ErrClosed, "the session was released")

// take takes the locks of the session, as the only call of the store that writes it.
func (h *Hold) take(ctx context.Context, o Owner) error {
	select {
	case h.s.gate <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-h.s.gate }()
	if err := h.st.base.Restore(); err != nil { // the place depends on the path of the directory
		return err
	}
	places, err := h.st.locateOwner(h.s.id)
	if err != nil {
		return err
	}
	for _, place := range places {
		if err := h.host(ctx, h.s.lockAt(&place), place, o); err != nil {
			return err
		}
	}
	h.st.cache.host(h.s) // before another call has the gate: a removal leaves the locks of a host
	return nil
}

// host takes l, the lock at place, for a host. A lock of this directory alone is made under
// the session's lock: calls that write the session look for it while they hold the
// session's lock.
func (h *Hold) host(ctx context.Context, l *ownerLock, place ownership.Session, o Owner) (err error) {
	if place.Sessions != "" {
		lock, failed := h.st.lockHere(ctx, place.ID)
		if failed != nil {
			return failed
		}
		defer func() { err = joinErrors(err, lock.Unlock()) }()
	}
	if !l.join() {
		held, err := h.st.takeOwnership(ctx, place)
		if err != nil {
			return err
		}
		l.begin(held)
	}
	app := o.App
	if app == "" {
		app = filepath.Base(os.Args[0])
	}
	if err := l.announce(ctx, ownership.Options{App: app, Extra: o.Extra}); err != nil {
		return err
	}
	h.locks = append(h.locks, l)
	return nil
}

// lockHere takes the lock of session id and makes the directory for the ownership
// locks of this sessions directory.
func (st *Store) lockHere(ctx context.Context, id string) (*lock.Lock, error) {
	owners, err := st.base.Kept(ownersDir)
	if err != nil {
		return nil, err
	}
	lock, err := st.base.Lock(ctx, id)
	return lock, joinErrors(lockError(ctx, err), owners.Close())
}
