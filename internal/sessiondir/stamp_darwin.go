package sessiondir

import (
	"io/fs"
	"syscall"
	"time"
)

func (s *Stamp) identify(fi fs.FileInfo) {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		s.Dev, s.Inode = uint64(uint32(st.Dev)), st.Ino
		s.Ctime = time.Unix(st.Ctimespec.Sec, st.Ctimespec.Nsec)
	}
}
