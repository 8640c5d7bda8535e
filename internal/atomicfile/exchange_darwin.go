package atomicfile

import (
	"golang.org/x/sys/unix"

	"github.com/amplifier-go/sessionstorage/internal/dirread"
)

func (d *Dir) exchange(a, b string) error {
	self, err := d.Handle()
	if err != nil {
		return err
	}
	return dirread.WithFd(self, func(fd int) error { return unix.RenameatxNp(fd, a, fd, b, unix.RENAME_SWAP) })
}
