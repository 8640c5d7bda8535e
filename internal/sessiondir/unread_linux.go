package sessiondir

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func links(fi fs.FileInfo) uint64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// unread reports whether nobody else has f open. A write lease, taken and
// given back at once, tells; where there are no leases the file must have
// rested as a backup.
func unread(f *os.File, fi fs.FileInfo) bool {
	err := lease(f)
	return err == nil || !errors.Is(err, unix.EAGAIN) && rested(fi)
}

// opened reports whether somebody else is known to have f open.
func opened(f *os.File) bool { return errors.Is(lease(f), unix.EAGAIN) }

// lease takes and gives back a write lease. The error Is EAGAIN when somebody
// else has f open.
func lease(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	taken := error(nil)
	err = conn.Control(func(fd uintptr) {
		if _, taken = unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_WRLCK); taken == nil {
			_, taken = unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK)
		}
	})
	return errors.Join(err, taken)
}

func rested(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && time.Since(time.Unix(int64(st.Ctim.Sec), int64(st.Ctim.Nsec))) > restAge
}
