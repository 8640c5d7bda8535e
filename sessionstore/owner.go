package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/ownership"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// Owner tells others who runs a session.
type Owner struct {
	App   string            // name of the program; "": that of the executable
	Extra map[string]string // further facts for display, never secrets
}

// Acquire takes the ownership lock of a root session, as a running host of
// the newer Python tools does, and tells them who has it. While it is held,
// nobody else writes the transcript. Its workspace is Options.Workspace, else
// the metadata's working_dir. The session need not exist yet.
//
// Acquire waits for a call of this library that writes the session at that
// moment, in this process or another. The error Is [ErrLocked] when another
// host runs the session, or somebody keeps the lock for longer than 10 s;
// [ErrFenced] when the session is being transferred; and errors.ErrUnsupported
// where there is no such lock: for sub-sessions and other ids that are not
// letters, digits and hyphens, for a session without a workspace, and on
// Windows.
//
// Nested calls count; the last release gives the lock back. Calling release
// twice does nothing. [Store.Close] gives back what was not released.
func (st *Store) Acquire(ctx context.Context, id string, o Owner) (release func() error, err error) {
	if err := checkID(id); err != nil {
		return nil, wrap("acquire", id, err)
	}
	if err := st.begin(ctx); err != nil {
		return nil, wrap("acquire", id, err)
	}
	defer st.done()
	l, err := st.owners.enter(ctx, id)
	if err != nil {
		return nil, wrap("acquire", id, err)
	}
	defer st.owners.leave(l)
	if err := st.host(ctx, l, o); err != nil {
		return nil, wrap("acquire", id, err)
	}
	return sync.OnceValue(func() error { return wrap("release", id, st.owners.release(l)) }), nil
}

// host takes the lock if this store does not have it, and announces o.
func (st *Store) host(ctx context.Context, l *ownerLock, o Owner) error {
	if l.held == nil {
		place, err := st.locateForHost(l.id)
		if err != nil {
			return err
		}
		if l.held, err = st.takeOwnership(ctx, l, place); err != nil {
			return err
		}
	}
	app := o.App
	if app == "" {
		app = filepath.Base(os.Args[0])
	}
	if err := l.held.Announce(ctx, ownership.Options{App: app, Extra: o.Extra}); err != nil {
		return joinErrors(ownershipError(err), st.owners.giveUpUnused(l))
	}
	st.owners.refHost(l)
	return nil
}

// takeOwnership waits for the lock of place as a call does, and takes it.
func (st *Store) takeOwnership(ctx context.Context, l *ownerLock, place ownership.Session) (*ownership.Held, error) {
	held, err := ownership.Take(ctx, place, l.line.Wait)
	return held, ownershipError(err)
}

// ownershipError returns the error of package ownership as one of this package.
// It says who holds the lock.
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
	}
	return err
}

// locateForHost finds the place of the ownership lock that a host of a session
// takes: that of Options.Workspace, else that of the workspace in the metadata.
func (st *Store) locateForHost(id string) (ownership.Session, error) {
	if !ownership.ValidID(id) {
		return ownership.Session{}, fmt.Errorf("%w: the id cannot be owned", errors.ErrUnsupported)
	}
	env := ownership.System()
	if st.opts.Workspace != "" {
		return ownership.Locate(env, ownership.Identity{Workspace: st.opts.Workspace, SessionID: id})
	}
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

// locateForCall finds the place of the ownership lock that a call takes which
// writes a session. It is the one that hosts take. A copy of a session names the
// workspace of the original in its metadata. Hosts of that workspace do not run
// the copy, so calls on the copy take no lock.
func (st *Store) locateForCall(id string) (ownership.Session, error) {
	place, err := st.locateForHost(id)
	if err != nil || st.opts.Workspace != "" {
		return place, err
	}
	native, err := os.Stat(filepath.Dir(place.NativeDirectory()))
	if err != nil || !sessiondir.IsAt(native, st.base.Path()) {
		return place, fmt.Errorf("%w: hosts keep the session elsewhere", errors.ErrUnsupported)
	}
	return place, nil
}

// ownerPlace returns where the lock of a session is. The caller holds the
// session's gate. The place of a session that exists does not change.
func (st *Store) ownerPlace(s *session, id string) *ownerPlace {
	if s.owner != nil {
		return s.owner
	}
	place, err := st.locateForCall(id)
	p := &ownerPlace{Session: place, noLock: err != nil}
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

// own takes the ownership lock for one call. The caller holds the session's gate
// and ends the use with unref. l is nil when the session has no such lock. It is
// also nil when the lock's directory is unusable: no host can run the session
// then, so the call may write.
func (st *Store) own(ctx context.Context, s *session, id string) (l *ownerLock, err error) {
	return st.ownAt(ctx, st.ownerPlace(s, id), id)
}

func (st *Store) ownAt(ctx context.Context, p *ownerPlace, id string) (*ownerLock, error) {
	if p.noLock {
		return nil, nil
	}
	l, err := st.owners.enter(ctx, id)
	if err != nil {
		return nil, err
	}
	defer st.owners.leave(l)
	if l.held == nil {
		held, err := st.takeOwnership(ctx, l, p.Session)
		switch {
		case errors.Is(err, ErrLocked), errors.Is(err, ErrFenced), ctx.Err() != nil:
			return nil, err
		case err != nil:
			st.warnUnowned(p, id, err)
			return nil, nil
		}
		l.held = held
	}
	st.owners.ref(l)
	return l, nil
}

// removeOwned runs remove under the ownership lock, so that no host runs the
// session meanwhile. It refuses a session that another host runs. held is nil for
// a session without such a lock.
func (st *Store) removeOwned(ctx context.Context, s *session, id string, remove func(held *ownership.Held) error) error {
	if !st.everHosted(id) {
		return remove(nil)
	}
	l, err := st.own(ctx, s, id)
	if err != nil {
		return err
	}
	if l == nil {
		return remove(nil)
	}
	s.owner = nil // one that comes after it may be elsewhere
	return joinErrors(remove(l.held), st.owners.unrefLast(l))
}

// everHosted reports whether a host has ever run the session, which may run it
// still.
func (st *Store) everHosted(id string) bool {
	place, err := st.locateForCall(id)
	if err != nil {
		return false
	}
	_, err = os.Lstat(place.LockPath())
	return !errors.Is(err, fs.ErrNotExist)
}
