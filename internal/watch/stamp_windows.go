package watch

import (
	"io/fs"
	"syscall"

	"github.com/amplifier-go/sessionstorage/internal/dirread"
)

func stampOf(fi fs.FileInfo) dirread.Stamp {
	is := dirread.StampOf(fi, nil)
	if data, ok := fi.Sys().(*syscall.Win32FileAttributeData); ok {
		is.Inode = uint64(data.CreationTime.Nanoseconds())
	}
	return is
}
