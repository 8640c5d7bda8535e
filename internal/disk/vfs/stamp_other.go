//go:build !linux && !darwin

package vfs

import (
	"errors"
	"io/fs"
	"time"
)

const exchanging, toNew = 0, 0

// rename fails: the system has no such call.
func (d *Dir) rename(string, string, int) error { return errors.ErrUnsupported }

// identify returns zeros: the system does not report the identity.
func identify(fs.FileInfo) (dev, inode uint64, ctime time.Time) { return 0, 0, time.Time{} }
