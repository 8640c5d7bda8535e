package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/amplifier-go/sessionstorage/internal/disk/commit"
	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/disk/ownership"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// write runs do as the only writer of session id, and commits what do wrote. It
// does not take the ownership lock.
func (st *Store) write(ctx context.Context, op, id string, mode openMode, do func(*transaction) error) error {
	start := st.clock()
	err := st.withGate(ctx, id, func(s *session) error { return st.withLock(ctx, s, id, mode, do) })
	return st.called(ctx, op, id, start, wrap(op, id, err))
}

// writeOwned is write with the ownership lock: only the owner of a session may
// change its transcript.
func (st *Store) writeOwned(ctx context.Context, op, id string, mode openMode, do func(*transaction) error) error {
	start := st.clock()
	err := st.withGate(ctx, id, func(s *session) error { return st.withOwnership(ctx, s, id, mode, do) })
	return st.called(ctx, op, id, start, wrap(op, id, err))
}

// withOwnership runs do under the ownership lock and the session's lock.
func (st *Store) withOwnership(ctx context.Context, s *session, id string, mode openMode, do func(*transaction) error) (err error) {
	if err := st.checkExists(id, mode); err != nil {
		return err
	}
	l, err := st.own(ctx, s, id)
	if err != nil {
		return err
	}
	defer func() { err = joinErrors(err, st.owners.unref(l, s.state)) }()
	return st.withLock(ctx, s, id, mode, func(tx *transaction) (err error) {
		here, err := st.ownHere(ctx, s, id)
		if err != nil {
			return err
		}
		defer func() { err = joinErrors(err, st.owners.unref(here, s.state)) }()
		return do(tx)
	})
}

// withGate runs do while no other call of this store writes session id.
func (st *Store) withGate(ctx context.Context, id string, do func(*session) error) error {
	s, err := st.admit(ctx, id)
	if err != nil {
		return err
	}
	defer st.dismiss(s)
	if err := st.enter(ctx, s); err != nil {
		return err
	}
	defer st.leave(s)
	return do(s)
}

// withLock runs do in the session's directory, under the session's lock.
// A new session is built beside the others and appears whole.
func (st *Store) withLock(ctx context.Context, s *session, id string, mode openMode, do func(*transaction) error) (err error) {
	if err := st.checkExists(id, mode); err != nil {
		return err
	}
	lock, err := st.lock(ctx, id)
	if errors.Is(err, fs.ErrNotExist) { // the sessions directory is gone
		if err = st.recreateBase(id, mode); err == nil {
			lock, err = st.lock(ctx, id)
		}
	}
	if err != nil {
		return err
	}
	defer func() { err = joinErrors(err, lock.Unlock()) }()
	for {
		tx := &transaction{st: st, s: s, id: id}
		err := tx.run(mode, do)
		if tx.created && errors.Is(err, fs.ErrExist) {
			continue // another tool made the directory meanwhile
		}
		if !tx.namesChanged && len(tx.wrote) == 0 && !commit.ChangedNames(err) && st.relieved(err) {
			continue // nothing was written for want of a descriptor
		}
		if overtaken(err) {
			err = fmt.Errorf("%w: %w", ErrConflict, err)
		}
		if err != nil {
			s.invalidate()
			return err
		}
		st.changed(id, Wrote, tx.wrote...)
		return nil
	}
}

// run begins tx, runs do, and commits what it wrote.
func (tx *transaction) run(mode openMode, do func(*transaction) error) (err error) {
	if err := tx.begin(mode); err != nil {
		return err
	}
	defer func() { err = joinErrors(err, tx.end()) }()
	if err := checkFence(tx.dir); err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return err
	}
	return tx.commit()
}

// recreateBase makes the sessions directory anew, unless the session must exist.
func (st *Store) recreateBase(id string, mode openMode) error {
	dir, created, err := st.openForWrite(id, mode)
	if err != nil {
		return err
	}
	if created {
		err = st.base.Abandon(dir)
	}
	return joinErrors(err, dir.Close())
}

// lock takes the lock that writers of a session share with the Python tools.
func (st *Store) lock(ctx context.Context, id string) (*lock.Lock, error) {
	lock, err := st.base.Lock(ctx, id)
	if st.relieved(err) {
		lock, err = st.base.Lock(ctx, id)
	}
	return lock, lockError(ctx, err)
}

// checkFence refuses a session that is being moved to another host.
func checkFence(dir *sessiondir.Dir) error {
	_, err := dir.Stat(ownership.FenceName)
	switch {
	case err == nil:
		return ErrFenced
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", ErrFenced, err)
	}
	return nil
}

// DefaultCleanupDays is the age at which the reference removes sessions.
const DefaultCleanupDays = 30

// maxDays is more than there are since the year 1, and few enough to count
// back from any time.
const maxDays = 999_999_999

// Delete removes a session with all its files. It vanishes at once and whole. What says
// who ran it goes, too; the lock of the newer Python tools stays.
// A symlink to a session elsewhere is not removed.
func (st *Store) Delete(ctx context.Context, id string) error {
	start := st.clock()
	return st.called(ctx, "delete", id, start, wrap("delete", id, st.remove(ctx, id)))
}

func (st *Store) remove(ctx context.Context, id string) error {
	return st.removeSession(ctx, id, func(held *ownership.Held) error {
		if held != nil {
			if err := held.RemoveCheckpoint(); err != nil {
				return err
			}
		}
		if err := st.base.Delete(id, st.opts.Durability != Relaxed); err != nil {
			return err
		}
		return errors.Join(st.base.ForgetEmptied(id), st.forget(ctx, id), st.forgetOwner(id))
	})
}

// removeSession runs take while nobody runs or writes session id. take removes
// the session's directory or moves it away.
func (st *Store) removeSession(ctx context.Context, id string, take func(held *ownership.Held) error) error {
	return st.withGate(ctx, id, func(s *session) error {
		if err := st.checkExists(id, openExisting); err != nil {
			return err
		}
		return st.removeOwned(ctx, s, id, func(held *ownership.Held) error {
			return st.removeLocked(ctx, s, id, func() error { return take(held) })
		})
	})
}

// removeLocked runs take under the session's lock, after it has closed all files
// of the session.
func (st *Store) removeLocked(ctx context.Context, s *session, id string, take func() error) (err error) {
	lock, err := st.lock(ctx, id)
	if err != nil {
		return err
	}
	defer func() { err = joinErrors(err, joinErrors(lock.Unlock(), s.state.Close())) }()
	dir, err := st.openDir(id)
	if err != nil {
		return err
	}
	if err := joinErrors(checkFence(dir), dir.Close()); err != nil {
		return err
	}
	here, err := st.ownHere(ctx, s, id)
	if err != nil {
		return err
	}
	defer func() { err = joinErrors(err, st.owners.unref(here, nil)) }()
	s.invalidate()
	if err := take(); err != nil {
		return err
	}
	st.changed(id, Removed, "")
	return nil
}

// Cleanup removes the sessions, sub-sessions too, whose directory was last
// modified more than so many days ago (the reference's default is
// [DefaultCleanupDays]), and returns how many. A session that cannot be removed
// is logged and stays; a symlink is never removed. When the sessions directory
// was moved or removed there is nothing to remove, and no error.
func (st *Store) Cleanup(ctx context.Context, days int) (int, error) {
	if days < 0 {
		return 0, &textError{text: "days must be non-negative"}
	}
	if err := st.begin(ctx); err != nil {
		return 0, wrap("clean up", "", err)
	}
	defer st.done()
	cutoff := st.opts.Now().UTC().AddDate(0, 0, -min(days, maxDays))
	if cutoff.Year() < 1 {
		return 0, &textError{text: "date value out of range"}
	}
	entries, err := st.base.Entries(func(string) bool { return true })
	if errors.Is(err, ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, wrap("clean up", "", err)
	}
	removed := 0
	for _, e := range entries {
		if !e.Modified.Before(cutoff) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return removed, wrap("clean up", "", err)
		}
		err := error(errSymlink)
		if !e.Symlink {
			err = st.remove(ctx, e.Name)
		}
		if errors.Is(err, ErrClosed) {
			return removed, wrap("clean up", "", err)
		}
		if err != nil {
			st.log.Error("session not removed", "session", e.Name, "err", err)
			continue
		}
		removed++
	}
	return removed, nil
}

var errSymlink = errors.New("it is a symlink")
