package sessionstore

import (
	"context"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/vfs"
)

func (c coreStore) Bookkeeping(name string) (*vfs.Dir, error) {
	if err := c.st.begin(context.Background()); err != nil {
		return nil, err
	}
	defer c.st.done()
	return c.st.base.Kept(name)
}

func (c coreStore) Has(id string) bool { return checkID(id) == nil && c.st.base.Has(id) }

func (c coreStore) Entries(ctx context.Context) ([]sessiondir.Entry, error) {
	if err := c.st.begin(ctx); err != nil {
		return nil, err
	}
	defer c.st.done()
	return c.st.base.Entries(func(string) bool { return true })
}

func (c coreStore) Stat(id, name string) (is sessiondir.Stamp, regular bool, err error) {
	if err := c.st.begin(context.Background()); err != nil {
		return sessiondir.Stamp{}, false, err
	}
	defer c.st.done()
	return c.st.base.Stat(id, name)
}

func (c coreStore) IsLocal() bool {
	if c.st.begin(context.Background()) != nil {
		return false
	}
	defer c.st.done()
	return c.st.base.IsLocal()
}

func (c coreStore) Free(id string) bool {
	if checkID(id) != nil || c.st.begin(context.Background()) != nil {
		return false
	}
	defer c.st.done()
	return !c.st.owners.hosted(id) && c.st.base.Free(id)
}

func (c coreStore) Acquired(id string) bool { return c.st.owners.hosted(id) }

func (c coreStore) Settled(s sessiondir.Stamp, at time.Time) bool { return c.st.base.Settled(s, at) }

func (c coreStore) Epoch(id string, at sessiondir.Stamp) uint64 {
	s := c.st.cache.known(id)
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.cached
	if t == nil || !at.Same(t.main) || !at.Mtime.Equal(t.writtenTime) && !c.st.base.Settled(at, t.checkedAt) {
		return 0
	}
	return t.epoch
}

func (c coreStore) SyncFiles(ctx context.Context, id string, names ...string) error {
	if c.Syncs() {
		return nil
	}
	err := c.Read(ctx, id, func(dir *sessiondir.Dir) error {
		for _, name := range names {
			if err := dir.SyncFile(name); err != nil {
				return err
			}
		}
		return dir.Sync()
	})
	if err != nil {
		return err
	}
	return c.st.base.Sync()
}
