package lock

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// supported reports whether the system has locks of an open file description.
const supported = true

// tickets is an open ticket file. It does not find its own locks.
type tickets struct {
	file *os.File
	conn syscall.RawConn
	is   fs.FileInfo
}

// newTickets returns the tickets of file, and closes file on an error.
func newTickets(file *os.File) (*tickets, error) {
	t := &tickets{file: file}
	is, err := file.Stat()
	if err == nil && !is.Mode().IsRegular() {
		err = errors.New("ticket file is not a regular file")
	}
	if err == nil {
		t.is = is
		t.conn, err = file.SyscallConn()
	}
	if err == nil {
		_, _, err = t.find(0, 0) // some file systems refuse
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return t, nil
}

func (t *tickets) close() error { return t.file.Close() }

// isAt reports whether path leads to this file.
func (t *tickets) isAt(path string) bool {
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(t.is, named)
}

// find returns a byte from first to last that another has locked. It is the
// end of that lock, and not always the lowest or highest such byte.
func (t *tickets) find(first, last int64) (at int64, found bool, err error) {
	if last < first {
		return 0, false, nil
	}
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: first, Len: last - first + 1}
	if err := t.control(unix.F_OFD_GETLK, &lock); err != nil || lock.Type == unix.F_UNLCK {
		return 0, false, err
	}
	if end := lock.Start + lock.Len - 1; lock.Len > 0 && end < last {
		return end, true, nil
	}
	return last, true, nil
}

// lowest returns the lowest byte from first to last that another has locked.
func (t *tickets) lowest(first, last int64) (at int64, found bool, err error) {
	at, found, err = t.find(first, last)
	for found && err == nil {
		lower, more, ferr := t.find(first, at-1)
		if !more {
			return at, true, ferr
		}
		at = lower
	}
	return at, found, err
}

// take locks the byte at, unless another has.
func (t *tickets) take(at int64) (bool, error) {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: at, Len: 1}
	err := t.control(unix.F_OFD_SETLK, &lock)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return false, nil
	}
	return err == nil, err
}

// drop unlocks the byte at. If that fails, the end of the process drops it, and
// until then the others wait past it.
func (t *tickets) drop(at int64) {
	lock := unix.Flock_t{Type: unix.F_UNLCK, Whence: io.SeekStart, Start: at, Len: 1}
	_ = t.control(unix.F_OFD_SETLK, &lock)
}

func (t *tickets) control(command int, lock *unix.Flock_t) error {
	var err error
	closed := t.conn.Control(func(fd uintptr) { err = unix.FcntlFlock(fd, command, lock) })
	if closed != nil {
		return closed
	}
	return err
}
