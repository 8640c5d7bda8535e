package sessionstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/commit"
	"github.com/amplifier-go/sessionstorage/internal/disk/ownership"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/store/access"
)

// access.Register gives internal/core the unexported functions of this package. The other
// packages of the module reach them through internal/core.
var _ = access.Register(access.Functions{
	Open:         open,
	Summaries:    summariesOf,
	CheckID:      checkID,
	ReadMetadata: readSoundMetadata,
	Of:           func(st *Store) any { return coreStore{st} },
	From:         Message.from,
	Blocks:       Message.blocks,
	Row:          Message.row,
	Wrap:         wrap,
	Spread:       spread,
})

// readSoundMetadata reads metadata.json alone, as [Store.Load] reads a file. It does not
// look at the backup.
func readSoundMetadata(dir *sessiondir.Dir) (md Metadata, found bool, err error) {
	f := readFile(dir, sessiondir.Metadata)
	md = f.parseMetadata()
	return md, f.found, asError(f.bad)
}

// coreStore implements the methods of core.Store, which are documented there.
type coreStore struct{ st *Store }

func (c coreStore) Now() time.Time    { return c.st.opts.Now() }
func (c coreStore) Syncs() bool       { return c.st.opts.Durability != Relaxed }
func (c coreStore) Workspace() string { return c.st.workspace() }

func (c coreStore) Stored(m Message) Message {
	if c.st.opts.Portable {
		return m.portable()
	}
	return m
}

func (c coreStore) Private() []string         { return c.st.globs }
func (c coreStore) SetPrivate(globs []string) { c.st.globs = globs }

func (c coreStore) Read(ctx context.Context, id string, do func(*sessiondir.Dir) error) error {
	err := c.st.admit(ctx)
	if err != nil {
		return err
	}
	defer c.st.calls.Done()
	dir, err := c.st.openDir(id)
	if err != nil {
		return err
	}
	return joinErrors(do(dir), dir.Close())
}

func (c coreStore) Change(ctx context.Context, id string, do func(tx any) error) error {
	start := c.st.clock()
	return c.st.called(ctx, "change", id, start, c.change(ctx, id, 0, do))
}

func (c coreStore) ChangeOwned(ctx context.Context, id string, do func(tx any) error) error {
	start := c.st.clock()
	return c.st.called(ctx, "change", id, start, c.change(ctx, id, owns, do))
}

func (c coreStore) change(ctx context.Context, id string, mode writeMode, do func(tx any) error) (err error) {
	tx, err := c.st.begin(ctx, "", id, mode)
	if err != nil {
		return err
	}
	defer tx.end(&err)
	return tx.commit(do(&coreTx{tx: tx}))
}

func (c coreStore) Make(ctx context.Context, id string, do func(tx any) error) error {
	return c.change(ctx, id, creates|makes, do)
}

// coreTx is a transaction that implements core.Tx, where the methods are documented.
type coreTx struct {
	tx *transaction
	t  *transcript // as Transcript read it
}

func (c *coreTx) Dir() *sessiondir.Dir { return c.tx.dir }

func (c *coreTx) Changed(name string) { c.tx.wrote = append(c.tx.wrote, name) }

func (c *coreTx) Renamed(name string) {
	c.tx.namesChanged = true
	c.Changed(name)
}

func (c *coreTx) Metadata() (Metadata, error) {
	m := c.tx.metadata()
	return m.md, cmp.Or(m.unread, m.damage)
}

func (c *coreTx) SetMetadata(md Metadata) error {
	content, err := md.file(c.tx.st.opts.Portable)
	if err != nil {
		return fmt.Errorf("encode metadata: %w", err)
	}
	m := metadataFile{}
	if !c.tx.created {
		m = c.tx.metadata()
	}
	return c.tx.conflict(sessiondir.Metadata, c.tx.replaceMetadata(&m, content))
}

func (c *coreTx) Transcript() ([]Message, Revision, error) {
	t, err := c.tx.transcript(c.tx.ctx, c.tx.metadata().md)
	if err != nil {
		return nil, Revision{}, err
	}
	c.t = t
	return slices.Clone(t.rows), t.revision(), t.damage
}

func (c *coreTx) SetTranscript(rows []Message) error {
	for i, m := range rows {
		if m.m == nil {
			return zeroMessage(i)
		}
	}
	return c.tx.conflict(sessiondir.Transcript, c.tx.writeRows(c.t, rows))
}

func (c *coreTx) Recovered() *Recovery {
	if c.t == nil {
		return nil
	}
	return c.t.recovered
}

func (c *coreTx) Messages(name string) ([]Message, error) {
	f := readFileUntil(c.tx.ctx, c.tx.dir, name)
	if !f.found {
		return nil, fs.ErrNotExist
	}
	rows := f.parseRows(c.tx.ctx)
	if err := c.tx.ctx.Err(); err != nil {
		return nil, err
	}
	return rows, asError(f.bad)
}

func (c *coreTx) Scan(do func(Message)) error {
	f, at, err := c.tx.dir.Open(sessiondir.Transcript)
	if err == nil {
		main := file{name: sessiondir.Transcript, path: c.tx.dir.Path(sessiondir.Transcript), found: true, stamp: at}
		if err = errAppending; at.Size > 0 && !mayBeAppending(c.tx.dir) {
			err = scanRows(c.tx.ctx, f, main.path, func(m Message) bool { do(m); return true })
		}
		if err = joinErrors(err, f.Close()); err == nil || c.tx.ctx.Err() != nil {
			c.t = &transcript{main: main, from: fromMain}
			return err
		}
	}
	rows, _, err := c.Transcript()
	for _, m := range rows {
		do(m)
	}
	return err
}

func (c *coreTx) SetName(n Naming) (changed bool, err error) {
	if n, err = n.checked(); err == nil {
		_, changed, err = c.tx.setName(n)
	}
	return changed, c.tx.conflict(sessiondir.Metadata, err)
}

func (c *coreTx) Restore(name string) error {
	if c.t == nil {
		if _, _, err := c.Transcript(); c.t == nil {
			return err
		}
	}
	return c.tx.conflict(sessiondir.Transcript, c.tx.restoreFrom(c.t, name))
}

func (c *coreTx) Replace(name string, r commit.Replacement) error {
	done, err := c.tx.replace(name, r)
	if err == nil && done.Displaced {
		err = errDisplaced
	}
	return c.tx.conflict(name, err)
}

func (c coreStore) Copies(ctx context.Context, id string) (lacking map[string]int, err error) {
	err = c.Read(ctx, id, func(dir *sessiondir.Dir) error {
		copies, err := conflictCopies(dir)
		if err != nil || len(copies) == 0 {
			return err
		}
		rows := readTranscript(ctx, dir, Metadata{}).rows
		lacking = map[string]int{}
		for _, k := range forks(copies, rows) {
			lacking[k.File] = k.Lacking
		}
		return ctx.Err()
	})
	return lacking, err
}

func (c coreStore) Damaged(ctx context.Context, id, name string) (rows []Message, err error) {
	err = c.Read(ctx, id, func(dir *sessiondir.Dir) error {
		transcript := name == sessiondir.Transcript || name == sessiondir.Backup(sessiondir.Transcript)
		if !transcript && !quarantinedName.MatchString(name) && !copyName.MatchString(name) {
			return fs.ErrNotExist
		}
		f := readFileUntil(ctx, dir, name)
		if !f.found {
			return fs.ErrNotExist
		}
		rows = onlyObjects(f.parseRows(ctx))
		return ctx.Err()
	})
	return rows, err
}

func (c coreStore) Trash() (*vfs.Dir, error) {
	if err := c.st.admit(context.Background()); err != nil {
		return nil, err
	}
	defer c.st.calls.Done()
	return c.st.base.Trash()
}

func (c coreStore) Send(ctx context.Context, id, to string) error {
	return wrap("move", id, c.send(ctx, id, to))
}

func (c coreStore) send(ctx context.Context, id, to string) (err error) {
	tx, err := c.st.beginRemoval(ctx, "", id)
	if err != nil {
		return err
	}
	defer tx.end(&err)
	if err := c.st.base.Send(id, to); err != nil {
		return err
	}
	c.st.gone(id, joinErrors(c.st.forget(ctx, id), c.st.forgetOwner(tx.s)))
	return nil
}

func (c coreStore) Fetch(ctx context.Context, id, from string) error {
	return wrap("move back", id, c.fetch(ctx, id, from))
}

func (c coreStore) fetch(ctx context.Context, id, from string) (err error) {
	tx, err := c.st.beginLocked(ctx, "", id, creates)
	if err != nil {
		return err
	}
	defer tx.end(&err)
	if err := c.st.base.Fetch(id, from); err != nil {
		return err
	}
	c.st.changed(id, Wrote, "")
	return nil
}

func (c coreStore) SyncDirs(paths ...string) error {
	if err := c.st.admit(context.Background()); err != nil {
		return err
	}
	defer c.st.calls.Done()
	if !c.Syncs() {
		return nil
	}
	return c.st.base.Sync(paths...)
}

func (c coreStore) Destroy(ctx context.Context, path string) error {
	err := c.st.admit(ctx)
	if err != nil {
		return err
	}
	defer c.st.calls.Done()
	return c.st.base.Delete(path, c.Syncs())
}

func (c coreStore) Busy(ctx context.Context, id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	if err := c.st.admit(ctx); err != nil {
		return err
	}
	defer c.st.calls.Done()
	if c.st.cache.hosted(id) || !c.st.base.Free(id) {
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

func (c coreStore) Runs(id string) bool {
	places, _ := c.st.locateOwner(id) // without a place no host can run it
	return c.st.cache.hosted(id) || slices.ContainsFunc(places, ownership.Runs)
}

// refuseRun returns ErrLocked when a host runs session id now.
func (st *Store) refuseRun(ctx context.Context, id string) error {
	places, err := st.locateOwner(id)
	switch {
	case noDescriptor(err):
		return err
	case err != nil || st.cache.hosted(id):
		return nil
	}
	for _, place := range places {
		if !everTaken(&place) {
			continue
		}
		held, err := st.takeOwnership(ctx, place)
		if err == nil {
			err = ownershipError(joinErrors(held.Check(), held.Release()))
		}
		if errors.Is(err, ErrLocked) || errors.Is(err, ErrFenced) || noDescriptor(err) || ctx.Err() != nil {
			return err
		} // else no host can use the ownership state: it holds no session
	}
	return nil
}

func (c coreStore) Bookkeeping(name string) (*vfs.Dir, error) {
	if err := c.st.admit(context.Background()); err != nil {
		return nil, err
	}
	defer c.st.calls.Done()
	return c.st.base.Kept(name)
}

func (c coreStore) ReadBookkeeping(dir, name string, most int64) ([]byte, error) {
	if err := c.st.admit(context.Background()); err != nil {
		return nil, err
	}
	defer c.st.calls.Done()
	for _, path := range []string{"", dir, dir + "/" + name} {
		_, regular, err := c.st.base.Stat(sessiondir.Bookkeeping, path)
		if err == nil && !regular {
			err = &fs.PathError{Op: "open", Path: filepath.Join(sessiondir.Bookkeeping, path), Err: vfs.ErrNotRegular}
		}
		if err != nil {
			return nil, err
		}
	}
	return c.st.base.ReadKept(dir, name, most)
}

func (c coreStore) Has(id string) bool { return checkID(id) == nil && c.st.base.Has(id) }

func (c coreStore) Entries(ctx context.Context) ([]sessiondir.Entry, error) {
	if err := c.st.admit(ctx); err != nil {
		return nil, err
	}
	defer c.st.calls.Done()
	return c.st.base.Entries(func(string) bool { return true })
}

func (c coreStore) Stat(id, name string) (is sessiondir.Stamp, regular bool, err error) {
	if err := c.st.admit(context.Background()); err != nil {
		return sessiondir.Stamp{}, false, err
	}
	defer c.st.calls.Done()
	return c.st.base.Stat(id, name)
}

func (c coreStore) IsLocal() bool {
	if c.st.admit(context.Background()) != nil {
		return false
	}
	defer c.st.calls.Done()
	return c.st.base.IsLocal()
}

func (c coreStore) Free(id string) bool {
	if checkID(id) != nil || c.st.admit(context.Background()) != nil {
		return false
	}
	defer c.st.calls.Done()
	return !c.st.cache.hosted(id) && c.st.base.Free(id)
}

func (c coreStore) Acquired(id string) bool { return c.st.cache.hosted(id) }

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
