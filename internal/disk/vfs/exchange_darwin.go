package vfs

import (
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
