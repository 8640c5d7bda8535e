package atomicfile

import (
	"golang.org/x/sys/unix"

	"github.com/amplifier-go/sessionstorage/internal/dirread"
)

func (d *Dir) exchange(a, b string) error { return d.rename(a, b, unix.RENAME_EXCHANGE) }

func (d *Dir) renameNew(name, to string) error { return d.rename(name, to, unix.RENAME_NOREPLACE) }

func (d *Dir) rename(a, b string, flag uint) error {
	self, err := d.Handle()
	if err != nil {
		return err
	}
	return dirread.WithFd(self, func(fd int) error { return unix.Renameat2(fd, a, fd, b, flag) })
}
