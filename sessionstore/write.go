package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/filelock"
	"github.com/amplifier-go/sessionstorage/internal/ownership"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// writing is one call that writes a session. It alone writes it, among all
// that honour the session's lock.
type writing struct {
	st    *Store
	s     *session
	id    string
	dir   *sessiondir.Dir
	made  bool     // the directory is new
	names bool     // names changed that must be made durable
	wrote []string // base names, in order
}

// write runs do as the only writer of session id and makes durable what do
// wrote.
func (st *Store) write(ctx context.Context, op, id string, need need, do func(*writing) error) error {
	s, start := st.session(id), st.clock()
	err := st.alone(ctx, s, id, func() error { return st.locked(ctx, s, id, need, do) })
	return st.called(ctx, op, id, start, wrap(op, id, err))
}

// writeOwned is write for what changes the transcript, which only the owner
// of the session may.
func (st *Store) writeOwned(ctx context.Context, op, id string, need need, do func(*writing) error) error {
	s, start := st.session(id), st.clock()
	err := st.alone(ctx, s, id, func() error { return st.owned(ctx, s, id, need, do) })
	return st.called(ctx, op, id, start, wrap(op, id, err))
}

func (st *Store) owned(ctx context.Context, s *session, id string, need need, do func(*writing) error) error {
	if err := st.check(id, need); err != nil {
		return err
	}
	if err := st.own(ctx, s, id); err != nil {
		return err
	}
	return st.locked(ctx, s, id, need, do)
}

// need is what a write needs of its session.
type need uint8

const (
	mayMake   need = iota // it is made when there is none
	mustExist             // it must be there
)

// check refuses early what would leave a lock file for nothing.
func (st *Store) check(id string, need need) error {
	if need == mustExist && !st.base.Has(id) {
		return notFound(id)
	}
	return nil
}

// open opens the directory of a session for writing; made tells that it is
// new.
func (st *Store) open(s *session, id string, need need) (dir *sessiondir.Dir, made bool, err error) {
	dir, err = s.seat.Dir()
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		return dir, false, err
	case need == mayMake:
		return st.base.Make(id)
	}
	return nil, false, notFound(id)
}

// alone runs do while no other call of this store writes session id.
func (st *Store) alone(ctx context.Context, s *session, id string, do func() error) error {
	if err := checkID(id); err != nil {
		return err
	}
	done, err := st.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	defer st.seated(id)
	return do()
}

// locked runs do in the session's directory, under the session's lock.
// A new session is built beside the others and appears whole.
func (st *Store) locked(ctx context.Context, s *session, id string, need need, do func(*writing) error) (err error) {
	if err := st.check(id, need); err != nil {
		return err
	}
	lock, err := st.lock(ctx, s)
	if errors.Is(err, fs.ErrNotExist) { // the sessions directory is gone
		if err = st.restore(s, id, need); err == nil {
			lock, err = st.lock(ctx, s)
		}
	}
	if err != nil {
		return err
	}
	defer func() { err = also(err, lock.Unlock()) }()
	for {
		w := &writing{st: st, s: s, id: id}
		err := w.run(need, do)
		if w.made && errors.Is(err, fs.ErrExist) {
			continue // another tool made the directory meanwhile
		}
		if err != nil {
			s.forget()
			return err
		}
		st.changed(id, Wrote, w.wrote...)
		return nil
	}
}

func (w *writing) run(need need, do func(*writing) error) (err error) {
	if w.dir, w.made, err = w.st.open(w.s, w.id, need); err != nil {
		return err
	}
	defer func() { err = also(err, w.dir.Leave()) }()
	if w.made {
		defer func() { err = also(err, w.st.base.Abandon(w.dir)) }()
	}
	if err := unfenced(w.dir); err != nil {
		return err
	}
	if err := do(w); err != nil {
		return err
	}
	return w.settle()
}

// restore makes the sessions directory anew for a session that may be made.
func (st *Store) restore(s *session, id string, need need) error {
	dir, made, err := st.open(s, id, need)
	if err != nil {
		return err
	}
	if made {
		err = st.base.Abandon(dir)
	}
	return also(err, dir.Leave())
}

// lock takes the lock that writers of a session share with the Python tools.
func (st *Store) lock(ctx context.Context, s *session) (*filelock.Lock, error) {
	lock, err := s.seat.Lock(ctx)
	if errors.Is(err, filelock.ErrBusy) && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", ErrLocked, err)
	}
	return lock, err
}

// unfenced refuses a session that is being moved to another host.
func unfenced(dir *sessiondir.Dir) error {
	_, err := dir.Stat(ownership.FenceName)
	switch {
	case err == nil:
		return ErrFenced
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", ErrFenced, err)
	}
	return nil
}

func (w *writing) has(name string) bool {
	_, err := w.dir.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// sync reports whether content is synced before it takes its name.
func (w *writing) sync() bool { return w.st.opts.Durability != Relaxed }

// settle makes the names that changed durable, where the store promises that,
// and lets a new session appear.
func (w *writing) settle() error {
	if w.made {
		return w.publish()
	}
	if !w.sync() || len(w.wrote) == 0 {
		return nil
	}
	if w.names {
		if err := w.syncNames(); err != nil {
			return err
		}
		w.s.firm = w.s.knownMain()
	}
	return w.settlePlace()
}

func (w *writing) publish() error {
	place, err := w.dir.Place()
	if err != nil {
		return err
	}
	if err := w.st.base.Publish(w.dir, w.sync()); err != nil {
		return err
	}
	if w.sync() {
		w.s.place, w.s.firm = place, w.s.knownMain()
	}
	return nil
}

// syncNames makes the names in the session's directory durable.
func (w *writing) syncNames() error {
	if err := w.dir.Sync(); err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	return nil
}

// settlePlace makes the name of the session's directory durable when this
// store has not yet: who made it may have been killed before, or a Python
// tool, which syncs nothing.
func (w *writing) settlePlace() error {
	place, err := w.dir.Place()
	if err != nil || place.SameFile(w.s.place) {
		return err
	}
	if err := w.st.base.Sync(); err != nil {
		return fmt.Errorf("sync sessions directory: %w", err)
	}
	w.s.place = place
	return nil
}

// replace gives name the content that write produces, and the time at. keep
// tells, when all is ready, what becomes of what stood there.
func (w *writing) replace(name string, at time.Time, write func(io.Writer) error, keep func() (atomicfile.Keep, error)) error {
	if err := w.dir.ReplaceKeeping(name, w.sync(), at, write, keep); err != nil {
		return err
	}
	w.names = true
	w.wrote = append(w.wrote, name)
	return nil
}
