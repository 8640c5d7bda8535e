package atomicfile

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/amplifier-go/sessionstorage/internal/dirread"
)

func (d *Dir) exchange(a, b string) error {
	self, err := d.Handle()
	if err != nil {
		return err
	}
	err = dirread.WithFd(self, func(fd int) error { return unix.Renameat2(fd, a, fd, b, unix.RENAME_EXCHANGE) })
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return errors.ErrUnsupported
	}
	return err
}
