package sessiondir

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Leaf is a file of a [Shelf], open for reading. It is for one goroutine.
//
// Between opening and closing a file, an [os.File] costs more than reading
// some hundred bytes does; this is the bare number of a file instead.
type Leaf struct {
	file *os.File // nil: fd
	fd   int
	left int64 // what is not read yet of the size that it had when it was opened
}

// quickly opens a file in one call that confines by itself. Every error but
// that there is none may be one of this way alone: older systems do not know
// the call.
func (s *Shelf) quickly(id, name string) (*Leaf, error) {
	fd, size, err := openBeneath(s.dir, id+"/"+name, 0)
	if err != nil {
		return nil, err
	}
	return &Leaf{fd: fd, left: size}, nil
}

// openBeneath opens the plain file path, which does not lead out of the
// directory in, for reading; flags come on top.
func openBeneath(in *os.File, path string, flags uint64) (fd int, size int64, err error) {
	how := unix.OpenHow{Flags: unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK | flags, Resolve: unix.RESOLVE_BENEATH}
	fd, err = uninterrupted(func() (int, error) { return unix.Openat2(int(in.Fd()), path, &how) })
	if err != nil {
		return 0, 0, err
	}
	var st unix.Stat_t
	err = unix.Fstat(fd, &st)
	if err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = ErrNotRegular
	}
	if err != nil {
		return 0, 0, errors.Join(err, unix.Close(fd))
	}
	return fd, st.Size, nil
}

// Has reports whether the file name of the session id is there, a symlink that
// leads nowhere included, or whether that cannot be told.
func (s *Shelf) Has(id, name string) bool {
	var st unix.Stat_t
	_, err := uninterrupted(func() (int, error) {
		return 0, unix.Fstatat(int(s.dir.Fd()), id+"/"+name, &st, unix.AT_SYMLINK_NOFOLLOW)
	})
	return !errors.Is(err, fs.ErrNotExist)
}

// Read reads as an [io.Reader] does. It tells the end together with the last
// bytes where it can.
func (l *Leaf) Read(p []byte) (int, error) {
	if l.file != nil {
		return l.file.Read(p)
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := uninterrupted(func() (int, error) { return unix.Read(l.fd, p) })
	if err != nil {
		return 0, err
	}
	l.left -= int64(n)
	if n == 0 || n < len(p) && l.left <= 0 {
		return n, io.EOF
	}
	return n, nil
}

// Close closes the file.
func (l *Leaf) Close() error {
	if l.file != nil {
		return l.file.Close()
	}
	return unix.Close(l.fd)
}

// uninterrupted repeats a call for as long as signals interrupt it.
func uninterrupted(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
