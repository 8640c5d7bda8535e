package vfs

import (
	"errors"
	"io/fs"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// ReadFast returns the content of the file name of session id, unless anything is unusual
// about it: then ok is false, and the caller uses [Open]. A writer may write the file at
// the same time, and some file systems return less than the whole content: ReadFast is
// for files whose content shows whether it is whole.
func (s *Sessions) ReadFast(id, name string) (data []byte, ok bool) {
	fd, err := s.openFast(id, name)
	if err != nil {
		return nil, false
	}
	return take(fd)
}

// ReadFast is [Sessions.ReadFast] with room for the content of the file. The error Is
// [fs.ErrNotExist] when there is no such file; after any other error the caller uses
// [Reader.Open].
func (d *Reader) ReadFast(id, name string, room []byte) (data []byte, err error) {
	fd, err := openIn(d.dir, id+"/"+name, unix.RESOLVE_BENEATH)
	if nowhere(err) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	data, err = readWhole(fd, room[:cap(room)])
	return data, errors.Join(err, unix.Close(fd))
}

// openFast opens the file name of session id. It follows no symlink below the sessions
// directory: it could lead to another session. If the path of the sessions directory has
// no symlink either, it opens the whole path, which finds the present directory; an open
// directory would have to be compared with it first.
func (s *Sessions) openFast(id, name string) (fd int, err error) {
	if s.plain && id != ".." && !strings.Contains(id, "/") {
		return openAt(unix.AT_FDCWD, s.path+"/"+id+"/"+name, unix.RESOLVE_NO_SYMLINKS)
	}
	in, err := s.handle()
	if err != nil {
		return 0, err
	}
	return openIn(in, id+"/"+name, unix.RESOLVE_BENEATH|unix.RESOLVE_NO_SYMLINKS)
}

// fastSize is the size of the largest file that is read fast, and fastBuffer the size of
// the largest that is read without asking for its size.
const (
	fastSize   = 1 << 20
	fastBuffer = 16 << 10
)

var fastBuffers = sync.Pool{New: func() any { return new([fastBuffer]byte) }}

var errLarge = errors.New("large file")

// take returns the content of the file fd, and closes it.
func take(fd int) (data []byte, ok bool) {
	ok = view(fd, func(in []byte) {
		if data = in; len(in) < fastBuffer {
			data = append(make([]byte, 0, len(in)), in...)
		}
	})
	return data, ok
}

// view passes the content of the file fd to look, and closes the file before. The bytes
// are valid during the call.
func view(fd int, look func(data []byte)) bool {
	buf := fastBuffers.Get().(*[fastBuffer]byte)
	defer fastBuffers.Put(buf)
	data, err := readWhole(fd, buf[:])
	if errors.Join(err, unix.Close(fd)) != nil || len(data) == 0 {
		return false
	}
	look(data)
	return true
}

// readWhole returns the content of a file: in buf, or in new memory if it is longer. It
// reads at an offset, which pipes, terminals and directories refuse.
func readWhole(fd int, buf []byte) ([]byte, error) {
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
	if is.Size >= fastSize {
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

// ReadStamped is [Sessions.ReadFast] with the stamp of the file. It is the zero Stamp where a
// later change could stay unseen.
func (s *Sessions) ReadStamped(id, name string) (data []byte, now Stamp, ok bool) {
	fd, now, err := s.openStamped(id, name)
	if err != nil {
		return nil, Stamp{}, false
	}
	if data, ok = take(fd); !ok {
		return nil, Stamp{}, false
	}
	return data, now, true
}

// View passes a file and its stamp to look as [Sessions.ReadStamped] returns them, but
// without a copy: the bytes are valid during the call.
func (s *Sessions) View(id, name string, look func(data []byte, is Stamp)) (ok bool) {
	fd, now, err := s.openStamped(id, name)
	return err == nil && view(fd, func(data []byte) { look(data, now) })
}

// openStamped opens a file and returns its stamp, zero if the stamp is of no use.
func (s *Sessions) openStamped(id, name string) (fd int, now Stamp, err error) {
	at := time.Now()
	if fd, err = s.openFast(id, name); err != nil {
		return -1, Stamp{}, err
	}
	var is unix.Stat_t
	if unix.Fstat(fd, &is) == nil {
		now = stampIn(&is, s.hooks)
	}
	if !Settled(s.hooks, now, at) || !isLocal(fd) {
		now = Stamp{}
	}
	return fd, now, nil
}
