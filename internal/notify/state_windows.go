package notify

import (
	"io/fs"
	"syscall"
)

func (s *State) identify(fi fs.FileInfo) {
	if data, ok := fi.Sys().(*syscall.Win32FileAttributeData); ok {
		s.inode = uint64(data.CreationTime.Nanoseconds())
	}
}
