package sessionstore

import (
	"context"
	"errors"

	"github.com/amplifier-go/sessionstorage/internal/ownership"
)

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
