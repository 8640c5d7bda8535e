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

// hold is a session's ownership lock, which a running host keeps. Uses nest:
// it is given back when the last one ends.
type hold struct {
	mu      sync.Mutex // guards what follows
	held    *ownership.Held
	uses    int
	asked   int  // those of them that began with Acquire
	writing bool // one of the uses is that of this store's writes
}

// Acquire takes the ownership lock of a root session, as a running host of
// the newer Python tools does, and tells them who has it. While it is held,
// nobody else writes the transcript. Its workspace is Options.Workspace, else
// the metadata's working_dir. The session need not exist yet.
//
// The error Is [ErrLocked] when somebody else has it, [ErrFenced] when the
// session is being transferred, and errors.ErrUnsupported where there is no
// such lock: for sub-sessions and other ids that are not letters, digits and
// hyphens, for a session without a workspace, and on Windows.
//
// Nested calls count; the last release gives the lock back, also where writes
// had taken it before. Calling release twice does nothing.
func (st *Store) Acquire(ctx context.Context, id string, o Owner) (release func() error, err error) {
	if err := checkID(id); err != nil {
		return nil, wrap("acquire", id, err)
	}
	done, err := st.begin(ctx)
	if err != nil {
		return nil, wrap("acquire", id, err)
	}
	defer done()
	h := &st.session(id).hold
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held == nil {
		place, err := st.locate(id, true)
		if err != nil {
			return nil, wrap("acquire", id, err)
		}
		if err := h.take(ctx, place, o); err != nil {
			return nil, wrap("acquire", id, err)
		}
	}
	h.uses++
	h.asked++
	return sync.OnceValue(func() error { return wrap("release", id, h.release()) }), nil
}

// take acquires the lock of place.
func (h *hold) take(ctx context.Context, place ownership.Session, o Owner) error {
	app := o.App
	if app == "" {
		app = filepath.Base(os.Args[0])
	}
	held, err := ownership.Acquire(ctx, place, ownership.Options{App: app, Extra: o.Extra})
	switch {
	case errors.Is(err, ownership.ErrBusy):
		return fmt.Errorf("%w: %w", ErrLocked, err)
	case errors.Is(err, ownership.ErrFenced):
		return fmt.Errorf("%w: %w", ErrFenced, err)
	}
	h.held = held
	return err
}

// release ends one explicit use. With the last, that of this store's writes
// ends too.
func (h *hold) release() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.uses--
	h.asked--
	if h.uses > 1 || h.uses == 1 && !h.writing {
		return nil
	}
	return h.drop()
}

func (h *hold) drop() error {
	held := h.held
	h.held, h.uses, h.asked, h.writing = nil, 0, 0, false
	if held == nil {
		return nil
	}
	return held.Release()
}

// locate finds the place of a session's ownership lock. With demand, every
// known workspace counts; without, one that only the metadata names counts
// where hosts of that workspace would look for this very directory.
func (st *Store) locate(id string, demand bool) (ownership.Session, error) {
	if !ownership.ValidID(id) {
		return ownership.Session{}, fmt.Errorf("%w: the id cannot be owned", errors.ErrUnsupported)
	}
	env := ownership.System()
	if st.opts.Workspace != "" {
		return ownership.Locate(env, ownership.Identity{Workspace: st.opts.Workspace, SessionID: id})
	}
	workspace := st.workspace()
	if dir, err := st.openDir(id); err == nil {
		m := st.metadataOf(st.session(id), dir, id)
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
	place, err := ownership.LocateRetained(env, ownership.Identity{Workspace: workspace, SessionID: id})
	if err != nil || demand {
		return place, err
	}
	native, err := os.Stat(filepath.Dir(place.NativeDirectory()))
	if err != nil || !sessiondir.IsAt(native, st.base.Path()) {
		return place, fmt.Errorf("%w: hosts keep the session elsewhere", errors.ErrUnsupported)
	}
	return place, nil
}

// own takes the ownership lock for this store's writes, once, where it
// protects anything. That the shared state is unusable, so that no host can
// run the session either, does not stop a write.
func (st *Store) own(ctx context.Context, s *session, id string) error {
	h := &s.hold
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.writing {
		return nil
	}
	if h.held == nil {
		place, err := st.locate(id, false)
		if err == nil {
			err = h.take(ctx, place, Owner{})
		}
		switch {
		case errors.Is(err, ErrLocked), errors.Is(err, ErrFenced), ctx.Err() != nil:
			return err
		case err != nil && !errors.Is(err, errors.ErrUnsupported):
			st.log.Warn("session written without its ownership lock", "session", id, "err", err)
		}
	}
	h.writing = true
	if h.held != nil {
		h.uses++
	}
	return nil
}

// disown gives back the ownership lock that this store's writes took.
func (s *session) disown() error {
	s.hold.mu.Lock()
	defer s.hold.mu.Unlock()
	return s.hold.drop()
}

// vacate runs remove while nobody can own the session. It refuses a session
// that somebody else runs. held is nil where there is nothing to own.
func (st *Store) vacate(ctx context.Context, s *session, id string, remove func(held *ownership.Held) error) error {
	if !st.ran(id) {
		return remove(nil)
	}
	if err := st.own(ctx, s, id); err != nil {
		return err
	}
	s.hold.mu.Lock()
	held := s.hold.held
	s.hold.mu.Unlock()
	return also(remove(held), s.disown())
}

// ran reports whether a host ever ran the session, so that one may run it now.
func (st *Store) ran(id string) bool {
	place, err := st.locate(id, false)
	if err != nil {
		return false
	}
	_, err = os.Lstat(place.LockPath())
	return !errors.Is(err, fs.ErrNotExist)
}
