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
		dev, inode = uint64(st.Dev), st.Ino
		ctime = time.Unix(int64(st.Ctim.Sec), int64(st.Ctim.Nsec)) // narrower on 32 bit
	}
	return dev, inode, ctime
}
