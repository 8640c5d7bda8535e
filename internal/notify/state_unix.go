//go:build linux || darwin

package notify

import "golang.org/x/sys/unix"

// Stat returns the state of path. It follows symlinks.
func Stat(path string) State {
	var st unix.Stat_t
	err := uninterrupted(unix.Lstat, path, &st)
	link := err == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK
	if link {
		err = uninterrupted(unix.Stat, path, &st)
	}
	switch err {
	case nil:
	case unix.ENOENT, unix.ENOTDIR:
		return State{linked: link}
	default:
		return State{kind: hidden, linked: link}
	}
	s := State{
		kind: file, linked: link || st.Nlink > 1,
		dev: uint64(st.Dev), inode: st.Ino, // Dev is narrower on macOS
		size:  st.Size,
		mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(),
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		s.kind, s.linked = directory, link
	}
	return s
}

func uninterrupted(stat func(string, *unix.Stat_t) error, path string, st *unix.Stat_t) (err error) {
	for err = unix.EINTR; err == unix.EINTR; {
		err = stat(path, st)
	}
	return err
}
