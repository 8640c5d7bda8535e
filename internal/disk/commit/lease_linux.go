package commit

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// takeLease takes a write lease. The system reports a waiting program by a signal, by
// default SIGIO, which ends a process that does not expect it. So the signal is set to
// SIGURG first, which every process ignores by default, and which the Go runtime sends
// itself all the time.
func takeLease(f *os.File) error {
	err := vfs.WithFd(f, func(fd int) error {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETSIG, int(unix.SIGURG)); err != nil {
			return err
		}
		_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_WRLCK)
		return err
	})
	if errors.Is(err, unix.EAGAIN) {
		return errInUse
	}
	return err
}

func leaseStateOf(f *os.File) leaseState {
	is := 0
	err := vfs.WithFd(f, func(fd int) (err error) {
		is, err = unix.FcntlInt(uintptr(fd), unix.F_GETLEASE, 0)
		return err
	})
	switch {
	case err != nil:
		return leaseUnknown
	case is == unix.F_WRLCK:
		return leaseHeld
	case is == unix.F_RDLCK:
		return readerWaits
	}
	return writerWaits
}

// dropLease does not rely on the closing of the file: a child between fork and
// exec has it open, too.
func dropLease(f *os.File) {
	_ = vfs.WithFd(f, func(fd int) error {
		_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
		return err // an expired lease is none
	})
}
