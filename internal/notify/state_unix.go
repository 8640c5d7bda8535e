//go:build linux || darwin

package notify

import "golang.org/x/sys/unix"

// Stat returns the state of path. It follows symlinks.
func Stat(path string) State {
	var st unix.Stat_t
	err := unix.Stat(path, &st)
	for err == unix.EINTR {
		err = unix.Stat(path, &st)
	}
	switch err {
	case nil:
	case unix.ENOENT, unix.ENOTDIR:
		return State{}
	default:
		return State{kind: hidden}
	}
	s := State{
		kind: file,
		dev:  uint64(st.Dev), inode: st.Ino, // Dev is narrower on macOS
		size:  st.Size,
		mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(),
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		s.kind = directory
	}
	return s
}
