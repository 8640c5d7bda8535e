package vfs

import (
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func (d *Dir) exchange(a, b string) error { return d.rename(a, b, unix.RENAME_SWAP) }

func (d *Dir) renameNew(name, to string) error { return d.rename(name, to, unix.RENAME_EXCL) }

func (d *Dir) rename(a, b string, flag uint32) error {
	self, err := d.Handle()
	if err != nil {
		return err
	}
	return WithFd(self, func(fd int) error { return unix.RenameatxNp(fd, a, fd, b, flag) })
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
