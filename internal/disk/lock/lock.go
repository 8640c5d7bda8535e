package lock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

const (
	defaultLimit = 10 * time.Second // as long as the reference waits
	replacements = 16               // of the lock file during one try, then it counts as busy
)

// A Lock is a lock that is held. Its methods may be called by any goroutine.
type Lock struct {
	file *os.File
	is   fs.FileInfo // of file
	here bool        // this process alone sees the lock; else it is a lock of the system
	once sync.Once
}

// Options say how [Acquire] takes a lock.
type Options struct {
	Perm  fs.FileMode   // of a lock file that is made, before umask; 0: 0600
	Limit time.Duration // how long to wait; 0: 10 s
	In    *os.File      // root's directory, where the caller has it open; nil: it is opened
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
func (o Options) Try(root *os.Root, name string) (l *Lock, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("lock %q: %w", name, err)
		}
	}()
	if name != filepath.Base(name) || !filepath.IsLocal(name) {
		return nil, errors.New("not a file name")
	}
	if o.Perm == 0 {
		o.Perm = 0o600
	}
	for range replacements {
		file, err := openFile(root, o.In, name, o.Perm)
		if err != nil {
			return nil, err
		}
		is, err := file.Stat()
		if err == nil && !is.Mode().IsRegular() {
			err = errors.New("not a regular file")
		}
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		l := &Lock{file: file, is: is}
		same, err := l.hold(root, name, o.Alone)
		if err == nil && same {
			return l, nil
		}
		_ = l.file.Close() // nothing was written; the reason is err
		if err != nil && (same || !errors.Is(err, ErrBusy)) {
			return nil, err
		}
	}
	return nil, ErrBusy
}

// Acquire is [Try] repeated until it gets the lock, ctx ends or the limit has passed.
// Waiting for a lock that stays held ends in an error that is [ErrBusy], and ctx's error
// too when that came first. Waiters get the lock in no particular order; see [Queue] for
// a line.
func Acquire(ctx context.Context, root *os.Root, name string, o Options) (lock *Lock, err error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("lock %q: %w", name, err)
	}
	limit := o.Limit
	if limit == 0 {
		limit = defaultLimit
	}
	err = Poll(ctx, limit, func() error {
		lock, err = o.Try(root, name)
		return err
	})
	return lock, err
}

// Unlock gives the lock up; the file stays. Further calls do nothing.
func (l *Lock) Unlock() error {
	var err error
	l.once.Do(func() { err = errors.Join(l.giveUp(), l.file.Close()) })
	return err
}

// giveUp gives the lock up. Closing the file would not be enough: a child between fork
// and exec has a copy of the descriptor.
func (l *Lock) giveUp() error {
	if l.here {
		process.unlock(l.is)
		return nil
	}
	return vfs.OnFd(l.file, unlock)
}

// hold locks the file and reports whether the file still has the name: a lock on a file
// that was removed or replaced in between excludes no other process, and is given up.
// hold reports it also when the file is busy.
func (l *Lock) hold(root *os.Root, name string, alone bool) (bool, error) {
	err := vfs.OnFd(l.file, lock)
	if alone && errors.Is(err, errors.ErrUnsupported) {
		l.here, err = true, process.lock(l.is)
	}
	if err != nil && !errors.Is(err, ErrBusy) {
		return false, err
	}
	named, lerr := root.Lstat(name)
	same := lerr == nil && os.SameFile(l.is, named)
	if err == nil && !same {
		err = l.giveUp()
	}
	if lerr != nil && !errors.Is(lerr, fs.ErrNotExist) {
		return false, lerr
	}
	return same, err
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

// ErrBusy is returned when another Lock, of this or another process, holds the file.
var ErrBusy = errors.New("lock is held elsewhere")

const (
	firstPause   = time.Millisecond
	longestPause = 10 * time.Millisecond
)

// Poll calls try again and again, until its error is not [ErrBusy], ctx ends or the limit
// has passed, and returns the last error. If ctx ends first, the error is ErrBusy and
// ctx's. The pauses are short, grow to 10 ms and have random lengths, so that the waiters
// for one lock do not try in step.
func Poll(ctx context.Context, limit time.Duration, try func() error) error {
	deadline := time.Now().Add(limit)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := try()
		if !errors.Is(err, ErrBusy) {
			return err
		}
		left := time.Until(deadline)
		if left <= 0 {
			return err
		}
		if !Sleep(ctx, min(pause/2+rand.N(pause/2), left)) {
			return fmt.Errorf("%w: %w", ErrBusy, ctx.Err())
		}
	}
}

// Sleep pauses for d and reports whether ctx is still alive.
func Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
