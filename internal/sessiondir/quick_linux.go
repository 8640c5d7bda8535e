package sessiondir

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// isPlain reports whether no symlink is on the way to path.
func isPlain(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && real == path
}

// Quickly returns the content of the file name of session id, unless anything
// is unusual about it: then ok is false, and [Base.Dir] tells more. A writer
// may have been at it, and some file systems give less than there is: it is for
// files that tell by themselves whether they are whole.
func (b *Base) Quickly(id, name string) (data []byte, ok bool) {
	fd, err := b.openQuickly(id, name)
	if err != nil {
		return nil, false
	}
	return take(fd)
}

// Quickly is [Base.Quickly] with room for what is in the file. The error Is
// [fs.ErrNotExist] when there is none; with any other, [Shelf.Open] tells more.
func (s *Shelf) Quickly(id, name string, room []byte) (data []byte, err error) {
	fd, err := openAt(int(s.dir.Fd()), id+"/"+name, unix.RESOLVE_BENEATH)
	if nowhere(err) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	data, err = readQuickly(fd, room[:cap(room)])
	return data, errors.Join(err, unix.Close(fd))
}

// openQuickly opens the file name of session id. It follows no symlink below
// the sessions directory: it could lead to another session. Where none leads to
// that either, the whole path is gone, which finds what stands there now; the
// open directory would have to be compared with that first.
func (b *Base) openQuickly(id, name string) (fd int, err error) {
	if b.plain && id != ".." && !strings.Contains(id, "/") {
		return openAt(unix.AT_FDCWD, b.path+"/"+id+"/"+name, unix.RESOLVE_NO_SYMLINKS)
	}
	top, err := b.open()
	if err != nil {
		return 0, err
	}
	in, err := top.Handle()
	if err != nil {
		return 0, err
	}
	return openAt(int(in.Fd()), id+"/"+name, unix.RESOLVE_BENEATH|unix.RESOLVE_NO_SYMLINKS)
}

func openAt(dir int, path string, resolve uint64) (fd int, err error) {
	how := unix.OpenHow{Flags: unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK, Resolve: resolve}
	return uninterrupted(func() (int, error) { return unix.Openat2(dir, path, &how) })
}

// quickSize is the size of the largest file that is read quickly, and
// quickBuffer that of those which need not be asked for their size.
const (
	quickSize   = 1 << 20
	quickBuffer = 16 << 10
)

var quickBuffers = sync.Pool{New: func() any { return new([quickBuffer]byte) }}

var errLarge = errors.New("large file")

// take returns what is in the file fd, and closes it.
func take(fd int) (data []byte, ok bool) {
	buf := quickBuffers.Get().(*[quickBuffer]byte)
	defer quickBuffers.Put(buf)
	data, err := readQuickly(fd, buf[:])
	if errors.Join(err, unix.Close(fd)) != nil || len(data) == 0 {
		return nil, false
	}
	if len(data) < len(buf) {
		data = append(make([]byte, 0, len(data)), data...)
	}
	return data, true
}

// readQuickly returns what is in a file: in buf, or else longer than that. It
// reads from a place, which pipes, terminals and directories refuse.
func readQuickly(fd int, buf []byte) ([]byte, error) {
	n, err := readAt(fd, buf)
	if err != nil {
		return nil, err
	}
	if n < len(buf) {
		return buf[:n], nil
	}
	var is unix.Stat_t
	if err := unix.Fstat(fd, &is); err != nil {
		return nil, err
	}
	if is.Size >= quickSize {
		return nil, errLarge
	}
	data := make([]byte, is.Size+1)
	if n, err = readAt(fd, data); err != nil || n != int(is.Size) {
		return nil, errors.Join(err, errLarge)
	}
	return data[:n:n], nil
}

func readAt(fd int, buf []byte) (int, error) {
	return uninterrupted(func() (int, error) { return unix.Pread(fd, buf, 0) })
}
