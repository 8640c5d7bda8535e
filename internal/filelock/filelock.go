package filelock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	defaultLimit = 10 * time.Second // as long as the reference waits
	replacements = 16               // of the lock file during one try, then it counts as busy
)

// A Lock is a lock that is held. Its methods may be called by any goroutine.
type Lock struct {
	file *os.File
	keep *Keep // has the file when the lock is given up; nil: nothing has
	once sync.Once
}

// Keep holds the file of a lock open between locks and between tries, for
// those who take it often. The zero Keep holds none. It is for one lock at a
// time.
type Keep struct {
	file *os.File
	is   fs.FileInfo
}

// Close closes the file, if there is one. No lock may be held by way of it.
func (k *Keep) Close() error {
	if k.file == nil {
		return nil
	}
	err := k.file.Close()
	*k = Keep{}
	return err
}

// Descriptors returns how many files are open: one or none.
func (k *Keep) Descriptors() int {
	if k.file == nil {
		return 0
	}
	return 1
}

// Options say how [Acquire] takes a lock.
type Options struct {
	Perm  fs.FileMode   // of a lock file that is made, before umask; 0: 0600
	Limit time.Duration // how long to wait; 0: 10 s
	Keep  *Keep         // keeps the file open between tries and locks; nil: it is closed
}

// Try locks the file name of the directory root without waiting, and makes it
// with perm before umask when it is missing. A file that another Lock holds is
// [ErrBusy]; a file system without locks is [errors.ErrUnsupported]; a symlink
// or anything but a regular file is refused.
func Try(root *os.Root, name string, perm fs.FileMode) (*Lock, error) {
	lock, err := try(root, name, perm, nil)
	if err != nil {
		return nil, fmt.Errorf("lock %q: %w", name, err)
	}
	return lock, nil
}

// Try is the function [Try], by way of the file that is kept. The file stays
// open when the lock is given up, and when it is busy.
func (k *Keep) Try(root *os.Root, name string, perm fs.FileMode) (*Lock, error) {
	lock, err := try(root, name, perm, k)
	if err != nil {
		return nil, fmt.Errorf("lock %q: %w", name, err)
	}
	return lock, nil
}

// Acquire is [Try] repeated until it gets the lock, ctx ends or the limit has
// passed. Waiting for a lock that stays held ends in an error that is
// [ErrBusy], and ctx's error too when that came first. Waiters get the lock in
// no particular order; see package lockqueue for a line.
func Acquire(ctx context.Context, root *os.Root, name string, o Options) (*Lock, error) {
	lock, err := o.acquire(ctx, root, name)
	if err != nil {
		return nil, fmt.Errorf("lock %q: %w", name, err)
	}
	return lock, nil
}

func (o Options) acquire(ctx context.Context, root *os.Root, name string) (lock *Lock, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	perm, limit := o.Perm, o.Limit
	if perm == 0 {
		perm = 0o600
	}
	if limit == 0 {
		limit = defaultLimit
	}
	err = Poll(ctx, limit, func() error {
		lock, err = try(root, name, perm, o.Keep)
		return err
	})
	return lock, err
}

// Unlock gives the lock up; the file stays. Further calls do nothing.
func (l *Lock) Unlock() error {
	var err error
	l.once.Do(func() { err = l.unlock() })
	return err
}

func (l *Lock) unlock() error {
	// Closing alone would leave the lock to a child that is between fork and
	// exec and has a copy of the descriptor.
	err := control(l.file, unlock)
	if l.keep == nil || err != nil {
		err = errors.Join(err, l.file.Close())
		if l.keep != nil {
			*l.keep = Keep{}
		}
	}
	return err
}

func try(root *os.Root, name string, perm fs.FileMode, keep *Keep) (*Lock, error) {
	if name != filepath.Base(name) || !filepath.IsLocal(name) {
		return nil, errors.New("not a file name")
	}
	if keep == nil {
		keep = &Keep{}
		lock, err := keep.try(root, name, perm)
		if lock == nil {
			return nil, errors.Join(err, keep.Close())
		}
		lock.keep = nil
		return lock, err
	}
	return keep.try(root, name, perm)
}

// try locks the file that is kept, or the one that has the name by now. The
// file stays open while it is busy under its name.
func (k *Keep) try(root *os.Root, name string, perm fs.FileMode) (*Lock, error) {
	for range replacements {
		if k.file == nil {
			if err := k.open(root, name, perm); err != nil {
				return nil, err
			}
		}
		same, err := k.hold(root, name)
		switch {
		case err == nil && same:
			return &Lock{file: k.file, keep: k}, nil
		case errors.Is(err, ErrBusy) && same:
			return nil, err
		}
		_ = k.Close() // nothing was written; the reason is err
		if err != nil && !errors.Is(err, ErrBusy) {
			return nil, err
		}
	}
	return nil, ErrBusy
}

func (k *Keep) open(root *os.Root, name string, perm fs.FileMode) error {
	file, err := open(root, name, perm)
	if err != nil {
		return err
	}
	is, err := file.Stat()
	if err == nil && !is.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	*k = Keep{file, is}
	return nil
}

// hold locks the file and reports whether name still leads to it: a lock on a
// file that was removed or replaced meanwhile excludes nobody. It reports that
// too when the file is busy.
func (k *Keep) hold(root *os.Root, name string) (bool, error) {
	err := control(k.file, lock)
	if err != nil && !errors.Is(err, ErrBusy) {
		return false, err
	}
	named, lerr := root.Lstat(name)
	if errors.Is(lerr, fs.ErrNotExist) {
		return false, err
	}
	if lerr != nil {
		return false, lerr
	}
	return os.SameFile(k.is, named), err
}
