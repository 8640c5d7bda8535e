package vfs

import (
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The ways to rename that [Dir.rename] knows.
const (
	exchanging = unix.RENAME_SWAP
	toNew      = unix.RENAME_EXCL // the new name must be free
)

// rename gives the file a the name b in one of the ways above.
func (d *Dir) rename(a, b string, way uint32) error {
	self, err := d.Handle()
	if err != nil {
		return err
	}
	return WithFd(self, func(fd int) error { return unix.RenameatxNp(fd, a, fd, b, way) })
}

// identify returns the identity of a file, and the time of the last change of its inode,
// as far as the system reports them.
func identify(fi fs.FileInfo) (dev, inode uint64, ctime time.Time) {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		dev, inode = uint64(uint32(st.Dev)), st.Ino
		ctime = time.Unix(st.Ctimespec.Sec, st.Ctimespec.Nsec)
	}
	return dev, inode, ctime
}
