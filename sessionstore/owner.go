package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/disk/ownership"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
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
	defer st.done()
	if err := st.base.Restore(); err != nil { // the place depends on the path of the directory
		return nil, wrap("acquire", id, err)
	}
	places, err := st.locateOwner(id)
	if err != nil {
		return nil, wrap("acquire", id, err)
	}
	hold := &Hold{st: st, id: id}
	for _, place := range places {
		l, err := st.hostAt(ctx, place, o)
		if err != nil {
			return nil, wrap("acquire", id, joinErrors(err, hold.giveBack()))
		}
		hold.locks = append(hold.locks, l)
	}
	return hold, nil
}

// Hold is the right to run a session, which [Store.Acquire] returns. Its methods may
// be called by many goroutines. The zero Hold holds nothing: its methods return nil.
type Hold struct {
	st    *Store
	id    string
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
	if !h.released {
		h.released, h.err = true, wrap("release", h.id, h.giveBack())
	}
	return h.err
}

func (h *Hold) giveBack() (err error) {
	for _, l := range slices.Backward(h.locks) {
		err = joinErrors(err, h.st.owners.release(l))
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
		if !h.released {
			err = ownershipError(h.st.owners.check(l))
		}
		if err != nil {
			return wrap("check the hold of", h.id, err)
		}
	}
	return nil
}

var errReleased = limits.Errorf(ErrClosed, "the session was released")

// hostAt takes one lock for a host. A lock of this directory alone is made under the
// session's lock: calls that write the session look for it while they hold the session's
// lock.
func (st *Store) hostAt(ctx context.Context, place ownership.Session, o Owner) (l *ownerLock, err error) {
	if place.Sessions != "" {
		lock, failed := st.lockHere(ctx, place.ID)
		if failed != nil {
			return nil, failed
		}
		defer func() { err = joinErrors(err, lock.Unlock()) }()
	}
	if l, err = st.owners.enter(ctx, place); err != nil {
		return nil, err
	}
	defer st.owners.leave(l)
	if l.held == nil {
		if l.held, err = st.takeOwnership(ctx, place, nil); err != nil {
			return nil, err
		}
	}
	app := o.App
	if app == "" {
		app = filepath.Base(os.Args[0])
	}
	if err := l.held.Announce(ctx, ownership.Options{App: app, Extra: o.Extra}); err != nil {
		return nil, joinErrors(ownershipError(err), st.owners.giveUpUnused(l))
	}
	st.owners.refHost(l)
	return l, nil
}

// isNative reports whether hosts look for a session in this directory.
func (st *Store) isNative(place ownership.Session) bool {
	native, err := os.Stat(filepath.Dir(place.NativeDirectory()))
	return err == nil && sessiondir.IsAt(native, st.base.Path())
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

// ownersDir is the directory of the bookkeeping with the ownership locks of
// sessions that hosts look for elsewhere.
const ownersDir = "owners"

// takeOwnership waits for the lock of place as a call does, and takes it. kept may
// have the place open; it may be nil.
func (st *Store) takeOwnership(ctx context.Context, place ownership.Session, kept *ownership.State) (*ownership.Held, error) {
	place.Alone = st.opts.SingleWriter
	line := st.base.OwnershipLine(place.ID)
	held, err := ownership.Take(ctx, place, kept, line.Wait)
	if st.relieved(err) {
		held, err = ownership.Take(ctx, place, kept, line.Wait)
	}
	return held, ownershipError(err)
}

// ownershipError returns the error of package ownership as an error of this package. It
// names the holder of the lock.
func ownershipError(err error) error {
	var busy *ownership.BusyError
	switch {
	case errors.As(err, &busy) && busy.Owner != nil:
		o := busy.Owner
		return fmt.Errorf("%w: %.64q runs it (process %d on %.64q): %w", ErrLocked, o.App, o.PID, o.Hostname, err)
	case errors.Is(err, ownership.ErrBusy):
		return fmt.Errorf("%w: %w", ErrLocked, err)
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
	if dir, err := st.openDir(id); err == nil {
		s := st.cache.call(id)
		m := st.metadataOf(s, dir, id)
		st.cache.end(s)
		if err := dir.Close(); err != nil {
			return ownership.Session{}, err
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
// gate. The places of a session that exists do not change.
func (st *Store) ownerPlace(s *session, id string) *ownerPlace {
	if s.owner != nil {
		return s.owner
	}
	places, err := st.locateOwner(id)
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
	return p
}

func (st *Store) warnUnowned(p *ownerPlace, id string, err error) {
	if p.warned {
		return
	}
	p.warned = true
	st.log.Warn("session written without its ownership lock", "session", id, "err", err)
}

// own takes the ownership lock for one call, where hosts look for it. The caller
// holds the session's gate and ends the use with unref. l is nil when the session
// has no such lock. It is also nil when the lock's directory is unusable: no host
// can run the session then, so the call may write.
func (st *Store) own(ctx context.Context, s *session, id string) (l *ownerLock, err error) {
	if p := st.ownerPlace(s, id); p.workspace != nil {
		l, err = st.ownAt(ctx, s, p, p.workspace)
	}
	return l, err
}

// ownHere is own for the lock of this directory. The caller holds the session's lock, so
// no such lock is made in between. ownHere takes the lock if there is one.
func (st *Store) ownHere(ctx context.Context, s *session, id string) (l *ownerLock, err error) {
	p := st.ownerPlace(s, id)
	if p.here == nil {
		return nil, nil
	}
	if _, err := os.Lstat(p.here.LockPath()); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return st.ownAt(ctx, s, p, p.here)
}

func (st *Store) ownAt(ctx context.Context, s *session, p *ownerPlace, place *ownership.Session) (*ownerLock, error) {
	l, err := st.owners.enter(ctx, *place)
	if err != nil {
		return nil, err
	}
	defer st.owners.leave(l)
	if l.held == nil {
		held, err := st.takeOwnership(ctx, *place, s.state)
		if err == nil && place == p.workspace && p.here != nil { // else the call looks for a fence where it writes
			if err = ownershipError(held.Check()); err != nil {
				err = joinErrors(err, held.Release())
			}
		}
		switch {
		case errors.Is(err, ErrLocked), errors.Is(err, ErrFenced), ctx.Err() != nil:
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

// ownHosted is own for the removal of a session. It takes the lock only where a host
// has ever run the session, since taking it would create its file.
func (st *Store) ownHosted(ctx context.Context, s *session, id string) (*ownerLock, error) {
	p := st.ownerPlace(s, id)
	if p.workspace == nil {
		return nil, nil
	}
	if _, err := os.Lstat(p.workspace.LockPath()); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return st.ownAt(ctx, s, p, p.workspace)
}
