package vfs

import (
	"io/fs"
	"syscall"
	"time"
)

// identify returns the identity of a file, and the time of the last change of its inode,
// as far as the system reports them.
func identify(fi fs.FileInfo) (dev, inode uint64, ctime time.Time) {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		dev, inode = uint64(uint32(st.Dev)), st.Ino
		ctime = time.Unix(st.Ctimespec.Sec, st.Ctimespec.Nsec)
	}
	return dev, inode, ctime
}
