//go:build !windows

package atomicfile

import (
	"errors"
	"syscall"
)

// syncNames syncs the directory. A file system that has no such call keeps
// names as durable as it can by itself.
func (d *Dir) syncNames() error {
	self, err := d.Handle()
	if err != nil {
		return err
	}
	err = self.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
