package filelock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	here fs.FileInfo // of file, where this process alone sees the lock; nil: it is one of the system
	keep *Keep       // has the file when the lock is given up; nil: nothing has
	once sync.Once
}

// Keep holds the file of a lock open between locks and between tries, for
// those who take it often. The zero Keep holds none. It is for one lock at a
// time.
type Keep struct {
	file  *os.File
	is    fs.FileInfo
	alone bool        // see [Options]
	here  fs.FileInfo // see [Lock]
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
	Keep  *Keep         // keeps the file open between tries and locks; nil: it is closed when the lock is given up, and when it is busy
	Alone bool          // no other process takes the lock: on a file system without locks, it excludes the goroutines of this process
}

// Try locks the file name of the directory root without waiting, and makes it
// with perm before umask when it is missing. A file that another Lock holds is
// [ErrBusy]; a file system without locks is [errors.ErrUnsupported]; a symlink
// or anything but a regular file is refused.
func Try(root *os.Root, name string, perm fs.FileMode) (*Lock, error) {
	return Options{Perm: perm}.Try(root, name)
}

// Try is the function [Try] with options.
func (o Options) Try(root *os.Root, name string) (*Lock, error) {
	lock, err := o.try(root, name)
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
	limit := o.Limit
	if limit == 0 {
		limit = defaultLimit
	}
	err = Poll(ctx, limit, func() error {
		lock, err = o.try(root, name)
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
	err := giveUp(l.file, l.here)
	if l.keep == nil || err != nil {
		err = errors.Join(err, l.file.Close())
		if l.keep != nil {
			*l.keep = Keep{}
		}
	}
	return err
}

func (o Options) try(root *os.Root, name string) (*Lock, error) {
	if name != filepath.Base(name) || !filepath.IsLocal(name) {
		return nil, errors.New("not a file name")
	}
	if o.Perm == 0 {
		o.Perm = 0o600
	}
	if o.Keep != nil {
		return o.Keep.try(root, name, o)
	}
	k := &Keep{}
	lock, err := k.try(root, name, o)
	if lock == nil {
		return nil, errors.Join(err, k.Close())
	}
	lock.keep = nil
	return lock, err
}

// try locks the file that is kept, or the one that has the name by now. The
// file stays open while it is busy under its name.
func (k *Keep) try(root *os.Root, name string, o Options) (*Lock, error) {
	for range replacements {
		if k.file == nil {
			if err := k.open(root, name, o.Perm); err != nil {
				return nil, err
			}
		}
		k.alone = o.Alone
		same, err := k.hold(root, name)
		switch {
		case err == nil && same:
			return &Lock{file: k.file, here: k.here, keep: k}, nil
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
	*k = Keep{file: file, is: is}
	return nil
}

// hold locks the file and reports whether name still leads to it: a lock on a
// file that was removed or replaced meanwhile excludes nobody, and is given up. It
// reports that too when the file is busy.
func (k *Keep) hold(root *os.Root, name string) (bool, error) {
	k.here = nil
	err := control(k.file, lock)
	if k.alone && errors.Is(err, errors.ErrUnsupported) {
		k.here, err = k.is, process.lock(k.is)
	}
	if err != nil && !errors.Is(err, ErrBusy) {
		return false, err
	}
	named, lerr := root.Lstat(name)
	same := lerr == nil && os.SameFile(k.is, named)
	if err == nil && !same {
		err = giveUp(k.file, k.here)
	}
	if lerr != nil && !errors.Is(lerr, fs.ErrNotExist) {
		return false, lerr
	}
	return same, err
}

// giveUp gives the lock of an open file up. Closing the file would not do: a child
// that is between fork and exec has a copy of the descriptor.
func giveUp(file *os.File, here fs.FileInfo) error {
	if here != nil {
		process.unlock(here)
		return nil
	}
	return control(file, unlock)
}

// process has the locks of this process on file systems without locks.
var process files

// files are locked files.
type files struct {
	mu     sync.Mutex // guards locked
	locked []fs.FileInfo
}

func (f *files) lock(file fs.FileInfo) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.ContainsFunc(f.locked, func(l fs.FileInfo) bool { return os.SameFile(l, file) }) {
		return ErrBusy
	}
	f.locked = append(f.locked, file)
	return nil
}

func (f *files) unlock(file fs.FileInfo) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.locked = slices.DeleteFunc(f.locked, func(l fs.FileInfo) bool { return os.SameFile(l, file) })
}
