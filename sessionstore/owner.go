package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/disk/ownership"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// isNative reports whether hosts look for a session in this directory.
func (st *Store) isNative(place ownership.Session) bool {
	native, err := os.Stat(filepath.Dir(place.NativeDirectory()))
	return err == nil && sessiondir.IsAt(native, st.base.Path())
}

// ownersDir is the directory of the bookkeeping with the ownership locks of
// sessions that hosts look for elsewhere.
const ownersDir = "owners"

// takeOwnership waits for the lock of place as a call does, and takes it.
func (st *Store) takeOwnership(ctx context.Context, place ownership.Session) (*ownership.Held, error) {
	place.Alone = st.opts.SingleWriter
	held, err := ownership.Take(ctx, place, st.base.OwnershipLine(place.ID).Wait)
	return held, ownershipError(err)
}

// ownershipError returns the error of package ownership as an error of this package. It
// names the holder of the lock.
func ownershipError(err error) error {
	var busy *ownership.BusyError
	switch {
	case errors.As(err, &busy) && busy.Owner != nil:
		o := busy.Owner
		return fmt.Errorf("%w: %.64q runs it (process %d on %.64q)", ErrLocked, o.App, o.PID, o.Hostname)
	case errors.Is(err, ownership.ErrBusy):
		return fmt.Errorf("%w: another program runs it", ErrLocked)
	case errors.Is(err, ownership.ErrFenced):
		return fmt.Errorf("%w: %w", ErrFenced, err)
	case errors.Is(err, ownership.ErrNoLocks):
		return needsSingleWriter(err)
	}
	return err
}

// locateOwner returns the places of the ownership locks of a session: the place for
// Options.Workspace, else the place for the workspace in the metadata if its hosts look
// for sessions in this directory. A copy of a session names the workspace of the
// original, whose hosts do not run the copy. Where hosts of the workspace look elsewhere,
// there is a lock of this directory: the last place.
func (st *Store) locateOwner(id string) (places []ownership.Session, err error) {
	if !ownership.ValidID(id) {
		return nil, fmt.Errorf("%w: the id cannot be owned", errors.ErrUnsupported)
	}
	env, chosen := ownership.System(), st.opts.Workspace != ""
	var place ownership.Session
	if chosen {
		place, err = ownership.Locate(env, ownership.Identity{Workspace: st.opts.Workspace, SessionID: id})
	} else {
		place, err = st.locateWorkspace(env, id)
	}
	if err != nil {
		return nil, err
	}
	native := st.isNative(place)
	if chosen || native {
		places = append(places, place)
	}
	if !native {
		place.Sessions = st.base.Path()
		place.StateRoot = filepath.Join(place.Sessions, sessiondir.Bookkeeping, ownersDir)
		places = append(places, place)
	}
	return places, nil
}

// locateWorkspace returns the place that follows from the metadata, or for a new
// session from the working directory.
func (st *Store) locateWorkspace(env ownership.Env, id string) (ownership.Session, error) {
	workspace := st.workspace()
	dir, err := st.openDir(id)
	if noDescriptor(err) {
		return ownership.Session{}, err
	}
	if err == nil {
		s := st.cache.call(id)
		m := st.metadataOf(s, dir, id)
		st.cache.end(s)
		if err := dir.Close(); err != nil {
			return ownership.Session{}, err
		}
		if noDescriptor(m.unread) {
			return ownership.Session{}, m.unread
		}
		if m.main.found || m.backup.found {
			workspace = m.md.Text("working_dir")
		}
	}
	if workspace == "" {
		return ownership.Session{}, fmt.Errorf("%w: the workspace is not known", errors.ErrUnsupported)
	}
	return ownership.LocateRetained(env, ownership.Identity{Workspace: workspace, SessionID: id})
}

// ownerPlace returns the places of the locks of a session. The caller holds the session's
// gate. The places of a session that exists do not change. The error is for a lack of
// descriptors; where the places cannot be found for another reason, there is no lock.
func (st *Store) ownerPlace(s *session, id string) (*ownerPlace, error) {
	if s.owner != nil {
		return s.owner, nil
	}
	places, err := st.locateOwner(id)
	if noDescriptor(err) {
		return nil, err
	}
	p := &ownerPlace{}
	for _, place := range places {
		if place.Sessions == "" {
			p.workspace = &place
		} else {
			p.here = &place
		}
	}
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		st.warnUnowned(p, id, err)
	}
	if st.base.Has(id) {
		s.owner = p
	}
	return p, nil
}

func (st *Store) warnUnowned(p *ownerPlace, id string, err error) {
	if p.warned {
		return
	}
	p.warned = true
	st.log.Warn("session written without its ownership lock", "session", id, "err", err)
}

// everTaken reports whether a host has ever taken the lock at place: to take another one
// would create its file.
func everTaken(place *ownership.Session) bool {
	_, err := os.Lstat(place.LockPath())
	return !errors.Is(err, fs.ErrNotExist)
}

// own takes the ownership lock at place, which is one of p, for one call. The caller
// holds the session's gate, for a lock of this directory the session's lock too, and ends
// the use with unref. The result is nil when the lock's directory is unusable: no host can
// run the session then, so the call may write.
func (st *Store) own(ctx context.Context, p *ownerPlace, place *ownership.Session) (*ownerLock, error) {
	l, err := st.owners.enter(ctx, *place)
	if err != nil {
		return nil, err
	}
	defer st.owners.leave(l)
	if l.held == nil {
		held, err := st.takeOwnership(ctx, *place)
		if err == nil && place == p.workspace && p.here != nil { // else the call looks for a fence where it writes
			if err = ownershipError(held.Check()); err != nil {
				err = joinErrors(err, held.Release())
			}
		}
		switch {
		case errors.Is(err, ErrLocked), errors.Is(err, ErrFenced), noDescriptor(err), ctx.Err() != nil:
			return nil, err
		case err != nil:
			st.warnUnowned(p, place.ID, err)
			return nil, nil
		}
		l.held = held
	}
	st.owners.ref(l)
	return l, nil
}

// forgetOwner removes the records of the owner of session id, which was removed. The
// caller holds its locks. A lock of this directory alone is removed, too, unless a host
// of this store holds it: other calls look for it under the session's lock, so no call
// waits for it.
func (st *Store) forgetOwner(id string) error {
	err := st.owners.forget(id)
	if st.owners.hosted(id) {
		return err
	}
	return joinErrors(err, st.base.RemoveKept(ownersDir, id))
}

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

// unref ends a call's use. The last use gives the lock up. l may be nil.
func (w *owners) unref(l *ownerLock) error {
	if l == nil {
		return nil
	}
	w.enterHeld(l)
	defer w.leave(l)
	if !w.endUse(l) {
		return nil
	}
	return l.giveUp()
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
		return l.giveUp()
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
		err = joinErrors(err, l.giveUp())
		w.leave(l)
	}
	return err
}
