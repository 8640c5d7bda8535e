package sessionstore

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/amplifier-go/sessionstorage/internal/ownership"
	"github.com/amplifier-go/sessionstorage/internal/vfs"
)

func (c coreStore) Trash() (*vfs.Dir, error) {
	if err := c.st.begin(context.Background()); err != nil {
		return nil, err
	}
	defer c.st.done()
	return c.st.base.Trash()
}

func (c coreStore) Send(ctx context.Context, id, to string) error {
	return wrap("move", id, c.st.removeSession(ctx, id, func(*ownership.Held) error {
		err := c.st.base.Send(id, to)
		if err == nil {
			if err := joinErrors(c.st.forget(ctx, id), c.st.forgetOwner(id)); err != nil { // the session is gone; the next Summaries tries again
				c.st.log.Warn("session not forgotten", "session", id, "err", err)
			}
		}
		return err
	}))
}

func (c coreStore) Fetch(ctx context.Context, id, from string) error {
	return wrap("move back", id, c.st.withGate(ctx, id, func(*session) (err error) {
		lock, err := c.st.lock(ctx, id)
		if err != nil {
			return err
		}
		defer func() { err = joinErrors(err, lock.Unlock()) }()
		if err := c.st.base.Fetch(id, from); err != nil {
			return err
		}
		c.st.changed(id, Wrote, "")
		return nil
	}))
}

func (c coreStore) SyncDirs(paths ...string) error {
	if err := c.st.begin(context.Background()); err != nil {
		return err
	}
	defer c.st.done()
	if !c.Syncs() {
		return nil
	}
	return c.st.base.Sync(paths...)
}

func (c coreStore) Destroy(ctx context.Context, path string) error {
	err := c.st.begin(ctx)
	if err != nil {
		return err
	}
	defer c.st.done()
	return c.st.base.Delete(path, c.Syncs())
}

func (c coreStore) Busy(ctx context.Context, id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	if err := c.st.begin(ctx); err != nil {
		return err
	}
	defer c.st.done()
	if c.st.owners.hosted(id) || !c.st.base.Free(id) {
		return ErrLocked
	}
	dir, err := c.st.openDir(id)
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil {
		err = joinErrors(checkFence(dir), dir.Close())
	}
	if err != nil {
		return err
	}
	return c.st.refuseRun(ctx, id)
}

// refuseRun returns ErrLocked when a host runs session id now.
func (st *Store) refuseRun(ctx context.Context, id string) error {
	places, err := st.locateOwner(id)
	if err != nil || st.owners.holds(id) {
		return nil
	}
	for _, place := range places {
		if _, err := os.Lstat(place.LockPath()); errors.Is(err, fs.ErrNotExist) {
			continue // no host ever ran it; taking the lock would create its file
		}
		held, err := st.takeOwnership(ctx, place, nil)
		if err == nil {
			err = ownershipError(joinErrors(held.Check(), held.Release()))
		}
		if errors.Is(err, ErrLocked) || errors.Is(err, ErrFenced) || ctx.Err() != nil {
			return err
		} // else state that no host can use does not hold a session
	}
	return nil
}
