package sessiondir

import (
	"io/fs"
	"syscall"
	"time"
)

func (s *Stamp) identify(fi fs.FileInfo) {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		s.Dev, s.Inode = uint64(st.Dev), st.Ino
		s.Ctime = time.Unix(int64(st.Ctim.Sec), int64(st.Ctim.Nsec)) // narrower on 32 bit
	}
}
