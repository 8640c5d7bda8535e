package atomicfile

import (
	"errors"

	"golang.org/x/sys/unix"
)

func (d *Dir) exchange(a, b string) error {
	self, err := d.Handle()
	if err != nil {
		return err
	}
	fd := int(self.Fd())
	err = unix.RenameatxNp(fd, a, fd, b, unix.RENAME_SWAP)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return errors.ErrUnsupported
	}
	return err
}
