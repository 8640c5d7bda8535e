//go:build !windows

package watch

import (
	"io/fs"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

func stampOf(fi fs.FileInfo) vfs.Stamp { return vfs.StampOf(fi, nil) }
