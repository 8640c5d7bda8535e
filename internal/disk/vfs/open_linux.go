package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// openAt opens path in the directory with the descriptor dir; resolve limits the
// symlinks. The result may be any kind of file: the caller must check it.
func openAt(dir int, path string, resolve uint64) (fd int, err error) {
	how := unix.OpenHow{Flags: unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK | LargeFile, Resolve: resolve}
	return openLeased(func() (int, error) { return unix.Openat2(dir, path, &how) })
}

// openIn is openAt in an open directory.
func openIn(dir *os.File, path string, resolve uint64) (fd int, err error) {
	err = WithFd(dir, func(in int) (err error) {
		fd, err = openAt(in, path, resolve)
		return err
	})
	return fd, err
}

// openBeneath opens the regular file path, which does not lead out of the
// directory in, for reading.
func openBeneath(in *os.File, path string) (fd int, size int64, err error) {
	fd, err = openIn(in, path, unix.RESOLVE_BENEATH)
	if err != nil {
		return 0, 0, err
	}
	var st unix.Stat_t
	err = unix.Fstat(fd, &st)
	if err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		return 0, 0, errors.Join(err, unix.Close(fd))
	}
	return fd, st.Size, nil
}

// isPlain reports whether path has no symlink in it.
func isPlain(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && real == path
}
