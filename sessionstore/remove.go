package sessionstore

import (
	"context"
	"errors"

	"github.com/amplifier-go/sessionstorage/internal/format/limits"
)

// DefaultCleanupDays is the age at which the reference removes sessions.
const DefaultCleanupDays = 30

// maxDays is more than the days since the year 1, and few enough to count back from any
// time.
const maxDays = 999_999_999

// Delete removes a session with all its files. It vanishes at once and whole. The records
// of its owner go, too; the lock of the newer Python tools stays. A symlink to a session
// elsewhere is not removed.
func (st *Store) Delete(ctx context.Context, id string) error {
	return st.remove(ctx, "delete", id)
}

func (st *Store) remove(ctx context.Context, op, id string) (err error) {
	tx, err := st.beginRemoval(ctx, op, id)
	if err != nil {
		return err
	}
	defer tx.end(&err)
	if tx.workspace != nil {
		if err := tx.workspace.held.RemoveCheckpoint(); err != nil {
			return err
		}
	}
	if err := st.base.Delete(id, tx.sync()); err != nil {
		return err
	}
	st.gone(id, errors.Join(st.base.ForgetEmptied(id), st.forget(ctx, id), st.forgetOwner(tx.s)))
	return nil
}

// gone tells of a session that was removed. What this library keeps about it may not have
// been forgotten, with err: the next Summaries tries again.
func (st *Store) gone(id string, err error) {
	if err != nil {
		st.log.Warn("session not forgotten", "session", id, "err", err)
	}
	st.changed(id, Removed, "")
}

// beginRemoval is begin for a call that removes the session's directory or moves it
// away. This store has no file of the session open then.
func (st *Store) beginRemoval(ctx context.Context, op, id string) (*transaction, error) {
	tx, err := st.begin(ctx, op, id, removes)
	if err != nil {
		return nil, err
	}
	if err := tx.close(nil); err != nil {
		tx.end(&err)
		return nil, err
	}
	tx.s.invalidate()
	return tx, nil
}

// Cleanup removes the sessions, sub-sessions too, whose directory was last modified more
// than so many days ago (the reference's default is [DefaultCleanupDays]), and returns
// their number. A session that cannot be removed is logged and stays; a symlink is never
// removed. When the sessions directory was moved or removed there is nothing to remove,
// and no error.
func (st *Store) Cleanup(ctx context.Context, days int) (int, error) {
	if days < 0 {
		return 0, limits.Reference(nil, "days must be non-negative")
	}
	if err := st.admit(ctx); err != nil {
		return 0, wrap("clean up", "", err)
	}
	defer st.calls.Done()
	cutoff := st.opts.Now().UTC().AddDate(0, 0, -min(days, maxDays))
	if cutoff.Year() < 1 {
		return 0, limits.Reference(nil, "date value out of range")
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
			err = st.remove(ctx, "", e.Name)
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
