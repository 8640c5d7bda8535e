// Package leased opens files on which another program may hold a lease.
//
// A program can ask Linux to be told before anybody opens a file: it takes a
// lease (F_SETLEASE). Until it gives the lease up, an open of that file waits
// in the kernel. An open that must not wait, because a pipe could stand in the
// place of the file (O_NONBLOCK), fails at once with EAGAIN instead. Writers
// of this module hold leases for about a millisecond, file servers for longer;
// the kernel takes a lease away after 45 seconds.
//
// [Open] waits for that. It never waits for a pipe. Whoever holds a lease must
// not open that file by way of this package: it would wait for itself.
package leased

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

const (
	shortest = 100 * time.Microsecond // the first pause between two attempts
	longest  = 5 * time.Millisecond   // each pause is twice as long as the last, up to this
	patience = 50 * time.Second       // longer than the kernel leaves a lease to its holder
)

// Open returns what open returns, and calls it again for as long as a lease on
// the file keeps it from succeeding or a signal interrupts it. After 50
// seconds it gives up, with an error that Is [syscall.EAGAIN].
func Open[T any](open func() (T, error)) (T, error) {
	file, err := open()
	if err == nil || !passing(err) {
		return file, err
	}
	pause, end := shortest, time.Now().Add(patience)
	for passing(err) {
		if errors.Is(err, syscall.EAGAIN) {
			if !time.Now().Before(end) {
				return file, fmt.Errorf("wait %v for another program to give up its lease on the file: %w", patience, err)
			}
			time.Sleep(pause)
			pause = min(2*pause, longest)
		}
		file, err = open()
	}
	return file, err
}

// passing reports whether the same open may succeed a moment later.
func passing(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR)
}
