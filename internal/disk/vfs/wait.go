package vfs

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// SharingLimit is the longest wait of [WhenFree]: as long as writers wait for a lock.
const SharingLimit = 10 * time.Second

// deniedLimit is the longest wait of [openShared] where the system only reports that
// access is denied. The reason may be a file which is about to vanish, or lacking
// permissions, which no wait changes.
const deniedLimit = time.Second

const (
	firstPause   = time.Millisecond      // the first pause between two tries
	longestPause = 20 * time.Millisecond // each pause is twice as long as the last, up to this
)

// WhenFree calls do, which renames, removes or changes a file, again and again while
// another program has the file open. After [SharingLimit] it gives up, and the error
// Is [ErrInUse].
func WhenFree(do func() error) error {
	return tryAgain(do, func(err error) time.Duration {
		if inUse(err) || denied(err) {
			return SharingLimit
		}
		return 0
	})
}

// openShared is [WhenFree] for a function that opens an existing file and returns it.
func openShared[T any](open func() (T, error)) (file T, err error) {
	err = tryAgain(func() (err error) { file, err = open(); return err }, func(err error) time.Duration {
		switch {
		case inUse(err):
			return SharingLimit
		case denied(err):
			return deniedLimit
		}
		return 0
	})
	return file, err
}

// tryAgain calls do until it succeeds, its error has no limit, or the limit has passed.
func tryAgain(do func() error, limit func(error) time.Duration) error {
	err := do()
	start, pause := time.Time{}, firstPause
	for {
		most := limit(err)
		if most == 0 {
			return err
		}
		if start.IsZero() {
			start = time.Now()
		}
		left := most - time.Since(start)
		if left <= 0 {
			break
		}
		time.Sleep(min(pause, left))
		pause = min(2*pause, longestPause)
		err = do()
	}
	if errors.Is(err, ErrInUse) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrInUse, err)
}

const (
	firstLeasePause   = 100 * time.Microsecond // the first pause between two attempts
	longestLeasePause = 5 * time.Millisecond   // each pause is twice as long as the last, up to this
	leasePatience     = 50 * time.Second       // longer than the kernel leaves a lease to its holder
)

// openLeased returns what open returns, and calls it again for as long as a lease on the
// file or a signal makes it fail. After 50 seconds it gives up, with an error that Is
// [syscall.EAGAIN].
func openLeased[T any](open func() (T, error)) (T, error) {
	file, err := open()
	if err == nil || !passes(err) {
		return file, err
	}
	pause, end := firstLeasePause, time.Now().Add(leasePatience)
	for passes(err) {
		if errors.Is(err, syscall.EAGAIN) {
			if !time.Now().Before(end) {
				return file, fmt.Errorf("wait %v for another program to give up its lease on the file: %w", leasePatience, err)
			}
			time.Sleep(pause)
			pause = min(2*pause, longestLeasePause)
		}
		file, err = open()
	}
	return file, err
}

// passes reports whether the same open may succeed a moment later.
func passes(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR)
}
