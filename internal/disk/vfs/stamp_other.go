//go:build !linux && !darwin

package vfs

import (
	"errors"
	"io/fs"
	"time"
)

func (d *Dir) exchange(string, string) error { return errors.ErrUnsupported }

func (d *Dir) renameNew(string, string) error { return errors.ErrUnsupported }

// identify returns zeros: the system does not report the identity.
func identify(fs.FileInfo) (dev, inode uint64, ctime time.Time) { return 0, 0, time.Time{} }
