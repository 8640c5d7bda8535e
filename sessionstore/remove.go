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

// Delete removes a session with all its files. It vanishes at once and whole.
// A symlink to a session elsewhere is not removed.
func (st *Store) Delete(ctx context.Context, id string) error {
	start := st.clock()
	return st.called(ctx, "delete", id, start, wrap("delete", id, st.remove(ctx, id)))
}

func (st *Store) remove(ctx context.Context, id string) error {
	return st.takeAway(ctx, id, func(held *ownership.Held) error {
		if held != nil {
			if err := held.RemoveCheckpoint(); err != nil {
				return err
			}
		}
		return st.base.Discard(id, st.opts.Durability != Relaxed)
	})
}

// takeAway runs take, which makes the directory of session id vanish, while
// nobody runs or writes the session.
func (st *Store) takeAway(ctx context.Context, id string, take func(held *ownership.Held) error) error {
	s := st.session(id)
	return st.alone(ctx, s, id, func() error {
		if err := st.check(id, mustExist); err != nil {
			return err
		}
		return st.vacate(ctx, s, id, func(held *ownership.Held) error {
			return st.apart(ctx, s, id, func() error { return take(held) })
		})
	})
}

// apart runs take under the session's lock, with nothing of it open.
func (st *Store) apart(ctx context.Context, s *session, id string, take func() error) (err error) {
	lock, err := st.lock(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = also(err, also(lock.Unlock(), s.seat.Close())) }()
	dir, err := st.openDir(id)
	if err != nil {
		return err
	}
	if err := also(unfenced(dir), dir.Close()); err != nil {
		return err
	}
	s.forget()
	if err := take(); err != nil {
		return err
	}
	st.changed(id, Removed, "")
	return nil
}

// Cleanup removes the sessions, sub-sessions too, whose directory was last
// modified more than so many days ago (the reference's default is
// [DefaultCleanupDays]), and returns how many. One that cannot be removed, as
// a symlink never is, is logged and stays.
func (st *Store) Cleanup(ctx context.Context, days int) (int, error) {
	if days < 0 {
		return 0, &textError{"days must be non-negative", errors.ErrUnsupported}
	}
	cutoff := st.opts.Now().UTC().AddDate(0, 0, -min(days, maxDays))
	if cutoff.Year() < 1 {
		return 0, &textError{"date value out of range", errors.ErrUnsupported}
	}
	done, err := st.begin(ctx)
	if err != nil {
		return 0, wrap("clean up", "", err)
	}
	defer done()
	entries, err := st.base.Entries(func(string) bool { return true })
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
		if err != nil {
			st.log.Error("session not removed", "session", e.Name, "err", err)
			continue
		}
		removed++
	}
	return removed, nil
}

var errSymlink = errors.New("it is a symlink")
