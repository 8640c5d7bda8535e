package sessiondir

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

func links(fi fs.FileInfo) uint64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// unread reports whether f has been a backup for so long that no reader of
// the file has it open any more: macOS has no leases.
func unread(_ *os.File, fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && time.Since(time.Unix(st.Ctimespec.Sec, st.Ctimespec.Nsec)) > restAge
}

// opened is false: the system cannot tell.
func opened(*os.File) bool { return false }
