package watch

import (
	"io/fs"
	"syscall"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

func stampOf(fi fs.FileInfo) vfs.Stamp {
	is := vfs.StampOf(fi, nil)
	if data, ok := fi.Sys().(*syscall.Win32FileAttributeData); ok {
		is.Inode = uint64(data.CreationTime.Nanoseconds())
	}
	return is
}
