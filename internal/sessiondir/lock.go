package sessiondir

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/filelock"
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
// ignored.
func Reserved(id string) bool {
	if !strings.HasPrefix(id, ".") {
		return false // all of them begin so
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
// honours it, in this process or another. It waits up to 10 s; then the error
// is [filelock.ErrBusy].
func (b *Base) Lock(ctx context.Context, id string) (*filelock.Lock, error) {
	return b.lock(ctx, id, nil)
}

func (b *Base) lock(ctx context.Context, id string, keep *filelock.Keep) (*filelock.Lock, error) {
	top, err := b.open()
	if err != nil {
		return nil, err
	}
	dir, name := lockName(id)
	if dir == "" {
		return filelock.Acquire(ctx, top.Root(), name, filelock.Options{Perm: lockPerm, Keep: keep})
	}
	if dir, err = b.keep(dir); err != nil {
		return nil, err
	}
	sub, err := top.Root().OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	lock, err := filelock.Acquire(ctx, sub, name, filelock.Options{Perm: lockPerm})
	return lock, errors.Join(err, sub.Close())
}

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
	lock, err := filelock.Try(root, name, lockPerm)
	if err != nil {
		return errors.Is(err, errors.ErrUnsupported)
	}
	return lock.Unlock() == nil
}
