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

// owner holds the ownership locks of one session, which may have both.
type owner struct {
	located   bool
	workspace ownerLock // of hosts that run the session for a workspace
	here      ownerLock // of this directory alone
	warned    bool      // that the state of a lock cannot be used
}

// ownerLock is an ownership lock of one session as this store holds it. A call that has the
// session's gate takes it for the first use, of a call or a host, and the last use gives it
// up. The lock of a call has no record; hosts of Acquire have written one.
type ownerLock struct {
	place *ownership.Session // nil: the session has no such lock; guarded by the gate

	mu    sync.Mutex      // guards the fields below, and is held while the lock is asked or given up
	held  *ownership.Held // nil: not held
	uses  int             // calls and hosts that need it
	hosts int             // the uses that began with Acquire
}

// locate finds the locks of session s. The caller holds the session's gate. The places of
// a session that exists do not change. The error is for a lack of descriptors; where the
// places cannot be found for another reason, there is no lock.
func (st *Store) locate(s *session) error {
	if s.owner.located {
		return nil
	}
	places, err := st.locateOwner(s.id)
	if noDescriptor(err) {
		return err
	}
	s.owner.workspace.place, s.owner.here.place = nil, nil
	for _, place := range places {
		s.lockAt(&place).place = &place
	}
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		st.warnUnowned(s, err)
	}
	s.owner.located = st.base.Has(s.id)
	return nil
}

// lockAt returns the lock of s that has the place.
func (s *session) lockAt(place *ownership.Session) *ownerLock {
	if place.Sessions == "" {
		return &s.owner.workspace
	}
	return &s.owner.here
}

func (st *Store) warnUnowned(s *session, err error) {
	if !s.owner.warned {
		s.owner.warned = true
		st.log.Warn("session written without its ownership lock", "session", s.id, "err", err)
	}
}

// everTaken reports whether a host has ever taken the lock at place: to take another one
// would create its file.
func everTaken(place *ownership.Session) bool {
	_, err := os.Lstat(place.LockPath())
	return !errors.Is(err, fs.ErrNotExist)
}

// own takes l, an ownership lock of s, for one call. The caller holds the session's gate,
// for a lock of this directory the session's lock too, and ends the use with release. The
// result is nil when the lock's directory is unusable: no host can run the session then, so
// the call may write.
func (st *Store) own(ctx context.Context, s *session, l *ownerLock) (*ownerLock, error) {
	if l.join() {
		return l, nil
	}
	held, err := st.takeOwnership(ctx, *l.place)
	if err == nil && l == &s.owner.workspace && s.owner.here.place != nil { // else the call looks for a fence where it writes
		if err = ownershipError(held.Check()); err != nil {
			err = joinErrors(err, held.Release())
		}
	}
	switch {
	case err == nil:
		l.begin(held)
		return l, nil
	case errors.Is(err, ErrLocked), errors.Is(err, ErrFenced), noDescriptor(err), ctx.Err() != nil:
		return nil, err
	}
	st.warnUnowned(s, err)
	return nil, nil
}

// join begins a use of the lock, and reports whether it could: the lock must be held.
func (l *ownerLock) join() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		return false
	}
	l.uses++
	return true
}

// begin begins the first use of the lock, which the caller has taken.
func (l *ownerLock) begin(held *ownership.Held) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = held
	l.uses++
}

// release ends a use. The last use gives the lock up.
func (l *ownerLock) release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.endUse()
}

// endUse is release for a caller that holds the mutex. It does nothing after close.
func (l *ownerLock) endUse() error {
	if l.uses--; l.uses > 0 || l.held == nil {
		return nil
	}
	held := l.held
	l.held = nil
	return held.Release()
}

// close ends all uses.
func (l *ownerLock) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.uses = 1
	return l.endUse()
}

// announce writes the record of a host that uses the lock.
func (l *ownerLock) announce(ctx context.Context, o ownership.Options) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.held.Announce(ctx, o); err != nil {
		return joinErrors(ownershipError(err), l.endUse())
	}
	l.hosts++
	return nil
}

// retract ends a host's use. After the last host's use, the record says so.
func (l *ownerLock) retract() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hosts--
	if l.uses > 1 && l.hosts == 0 && l.held != nil {
		l.uses--
		return l.held.Retract()
	}
	return l.endUse()
}

// check reports whether the session of the lock may still be run.
func (l *ownerLock) check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil { // Close has released it
		return errClosed
	}
	return l.held.Check()
}

// removeRecord removes the record of the lock, if this store holds it.
func (l *ownerLock) removeRecord() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		return nil
	}
	return l.held.RemoveOwner()
}

// forgetOwner removes the records of the owner of s, which was removed. The caller holds
// its locks. A lock of this directory alone is removed, too, unless a host of this store
// holds it: other calls look for it under the session's lock, so no call waits for it.
func (st *Store) forgetOwner(s *session) error {
	err := joinErrors(s.owner.workspace.removeRecord(), s.owner.here.removeRecord())
	if st.cache.hosted(s.id) {
		return err
	}
	return joinErrors(err, joinErrors(st.base.RemoveKept(ownersDir, s.id), st.base.RemoveKept(sessiondir.Turns, sessiondir.TurnLock(s.id))))
}
