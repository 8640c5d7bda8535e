package sessiondir

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// lockPerm is the mode of a lock file before umask, as the newer Python tools
// make it.
const lockPerm fs.FileMode = 0o666

const (
	maxName = 255
	lockExt = ".metadata.lock"
)

// Reserved reports whether a session's directory may not be called id: the name belongs
// to the bookkeeping, the trash or a lock, also where case is ignored, or is one of
// [vfs.OfSystem].
func Reserved(id string) bool {
	if !strings.HasPrefix(id, ".") {
		return vfs.OfSystem(id)
	}
	lower := strings.ToLower(id)
	return lower == Bookkeeping || lower == Trash || strings.HasSuffix(lower, lockExt)
}

// lockName returns the lock file of session id, beside the session. It is the name that
// the newer Python tools use; an id too long for it, which they cannot write, has its
// lock in the directory dir of the bookkeeping.
func lockName(id string) (dir, name string) {
	name = "." + id + lockExt
	if len(name) <= maxName {
		return "", name
	}
	sum := sha256.Sum256([]byte(id))
	return "locks", hex.EncodeToString(sum[:]) + ".lock"
}

// Lock takes the lock of session id, which excludes every other writer that
// honours it, in this process or another. It waits in line. While the line does
// not move, it waits up to 10 s; then the error is [lock.ErrBusy].
func (b *Base) Lock(ctx context.Context, id string) (*lock.Lock, error) {
	top, err := b.open()
	if err != nil {
		return nil, err
	}
	dir, name := lockName(id)
	if dir == "" {
		in, err := top.Handle()
		if err != nil {
			return nil, err
		}
		return b.await(ctx, id, top.Root(), name, in)
	}
	dir = filepath.Join(Bookkeeping, dir)
	if err := top.MkdirAll(dir); err != nil {
		return nil, err
	}
	sub, err := top.Root().OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	lock, err := b.await(ctx, id, sub, name, nil)
	return lock, errors.Join(err, sub.Close())
}

// await waits in the line of session id's lock, which is the file name in root. in
// is root's directory, or nil.
func (b *Base) await(ctx context.Context, id string, root *os.Root, name string, in *os.File) (lock *lock.Lock, err error) {
	err = b.queue.Line("session "+id).Wait(ctx, func() (err error) {
		lock, err = b.lockOptions(in).Try(root, name)
		return err
	})
	return lock, err
}

func (b *Base) lockOptions(in *os.File) lock.Options {
	return lock.Options{Perm: lockPerm, In: in, Alone: b.Alone}
}

// OwnershipLine returns the line of the waiters for the ownership lock of session id,
// which is not in the sessions directory.
func (b *Base) OwnershipLine(id string) lock.Line { return b.queue.Line("owner " + id) }

// Free reports whether no writer holds the lock of session id now. It makes no lock file.
func (b *Base) Free(id string) bool {
	top, err := b.open()
	if err != nil {
		return false
	}
	root := top.Root()
	dir, name := lockName(id)
	if dir != "" {
		dir = filepath.Join(Bookkeeping, dir)
	}
	if _, err := root.Lstat(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if dir != "" {
		sub, err := root.OpenRoot(dir)
		if err != nil {
			return false
		}
		defer sub.Close()
		root = sub
	}
	lock, err := b.lockOptions(nil).Try(root, name)
	if err != nil {
		return errors.Is(err, errors.ErrUnsupported)
	}
	return lock.Unlock() == nil
}

// Lease runs take, which takes a lease on the file name. Nothing on the disk
// changes, but other programs that open the file wait until [Dir.Release].
func (d *Dir) Lease(name string, take func() error) error {
	return d.seam.Do(seam.Op{Kind: seam.Lease, Dir: d.Root().Name(), Name: name}, take)
}

// Release runs drop, which gives a lease on the file name up. A seam cannot
// refuse it.
func (d *Dir) Release(name string, drop func()) {
	op := seam.Op{Kind: seam.Release, Dir: d.Root().Name(), Name: name}
	if err := d.seam.Do(op, func() error { drop(); return nil }); err != nil {
		drop()
	}
}

// Local reports whether the directory is on a local file system, so that the
// kernel knows every program that has one of its files open.
func (d *Dir) Local() bool {
	d.local.once.Do(func() {
		in, err := d.Handle()
		d.local.is = err == nil && vfs.IsLocal(in)
	})
	return d.local.is
}

// Exchanges reports whether an exchange of names is worth a try.
func (d *Dir) Exchanges() bool { return d.Local() && !d.noExchange.Load() }

// NoExchange notes that an exchange of names failed with err. No other exchange is tried
// in this sessions directory if err means that its file system has none. Any other error
// may concern only this file at this moment.
func (d *Dir) NoExchange(err error) {
	if errors.Is(err, errors.ErrUnsupported) {
		d.noExchange.Store(true)
	}
}

// StampOf returns the stamp of an open file.
func (d *Dir) StampOf(f *os.File) (Stamp, error) {
	fi, err := f.Stat()
	if err != nil {
		return Stamp{}, err
	}
	return d.StampIn(fi), nil
}

// StampIn returns the stamp in fi.
func (d *Dir) StampIn(fi fs.FileInfo) Stamp { return d.stamp(fi) }
