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

	"github.com/amplifier-go/sessionstorage/internal/vfs"
	"github.com/amplifier-go/sessionstorage/internal/filelock"
	"github.com/amplifier-go/sessionstorage/internal/lockqueue"
)

// lockPerm is the mode of a lock file before umask, as the newer Python tools
// make it.
const lockPerm fs.FileMode = 0o666

const (
	maxName = 255
	lockExt = ".metadata.lock"
)

// Reserved reports whether a session's directory may not be called id: the
// name is that of the bookkeeping, of the trash or of a lock, also where case is
// ignored, or one of [vfs.OfSystem].
func Reserved(id string) bool {
	if !strings.HasPrefix(id, ".") {
		return vfs.OfSystem(id)
	}
	lower := strings.ToLower(id)
	return lower == Bookkeeping || lower == Trash || strings.HasSuffix(lower, lockExt)
}

// lockName returns the lock file of session id, beside the session. It is the
// name that the newer Python tools use; an id too long for it, which they
// cannot write, has its lock in that directory of the bookkeeping.
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
// not move, it waits up to 10 s; then the error is [filelock.ErrBusy].
func (b *Base) Lock(ctx context.Context, id string) (*filelock.Lock, error) {
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
func (b *Base) await(ctx context.Context, id string, root *os.Root, name string, in *os.File) (lock *filelock.Lock, err error) {
	err = b.queue.Line("session "+id).Wait(ctx, func() (err error) {
		lock, err = b.lockOptions(in).Try(root, name)
		return err
	})
	return lock, err
}

func (b *Base) lockOptions(in *os.File) filelock.Options {
	return filelock.Options{Perm: lockPerm, In: in, Alone: b.Alone}
}

// OwnershipLine returns the line of those who wait for the ownership lock of
// session id, which is not in the sessions directory.
func (b *Base) OwnershipLine(id string) lockqueue.Line { return b.queue.Line("owner " + id) }

// Free reports whether nobody holds the lock of session id now. It makes no
// lock file.
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
