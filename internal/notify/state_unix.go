//go:build linux || darwin

package notify

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Stat returns the state of path. It follows symlinks.
func Stat(path string) State { return statAt(unix.AT_FDCWD, path) }

// StatIn is Stat of a path in the directory dir. in is that directory, open, and spares
// the system the way to it; it may be nil.
func StatIn(in *os.File, dir, path string) State {
	if in == nil {
		return Stat(dir + "/" + path)
	}
	defer runtime.KeepAlive(in)
	return statAt(int(in.Fd()), path)
}

func statAt(in int, path string) State {
	var st unix.Stat_t
	err := unix.Fstatat(in, path, &st, 0)
	for err == unix.EINTR {
		err = unix.Fstatat(in, path, &st, 0)
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
