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
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	lease := error(nil)
	err = conn.Control(func(fd uintptr) {
		if _, lease = unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_WRLCK); lease == nil {
			_, lease = unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK)
		}
	})
	if err != nil || errors.Is(lease, unix.EAGAIN) {
		return false
	}
	return lease == nil || rested(fi)
}

func rested(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && time.Since(time.Unix(int64(st.Ctim.Sec), int64(st.Ctim.Nsec))) > restAge
}
