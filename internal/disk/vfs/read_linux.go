package vfs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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

// File is a file of a [Reader], open for reading. It is for one goroutine.
//
// An [os.File] costs more, between opening and closing a file, than reading some hundred
// bytes; so File is the bare number of a file.
type File struct {
	file *os.File // nil: fd
	fd   int
	left int64 // the bytes not read yet, of the size at the time of the open
}

// openFile opens the file path below the directory in, in one call that confines by
// itself. Every error except that there is no file may concern only this call: older
// systems do not know it.
func openFile(in *os.File, path string) (*File, error) {
	fd, size, err := openBeneath(in, path)
	if err != nil {
		return nil, err
	}
	return &File{fd: fd, left: size}, nil
}

// Read reads as an [io.Reader] does. If possible, it returns io.EOF together with the
// last bytes.
func (f *File) Read(p []byte) (int, error) {
	if f.file != nil {
		return f.file.Read(p)
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := uninterrupted(func() (int, error) { return unix.Read(f.fd, p) })
	if err != nil {
		return 0, err
	}
	f.left -= int64(n)
	if n == 0 || n < len(p) && f.left <= 0 {
		return n, io.EOF
	}
	return n, nil
}

// Close closes the file.
func (f *File) Close() error {
	if f.file != nil {
		return f.file.Close()
	}
	return unix.Close(f.fd)
}

// The offsets of the parts of an entry in the output of getdents64.
const (
	sizeAt = 16 // two bytes
	kindAt = 18
	nameAt = 19 // up to a zero
)

// readNames yields the names in the directory f as texts of a listing, in the
// order of the file system.
func readNames(f *os.File, yield func(text string)) error {
	buf := make([]byte, 32<<10)
	var text []byte
	for {
		var n int
		err := OnFd(f, func(fd int) (err error) {
			n, err = unix.ReadDirent(fd, buf)
			return err
		})
		if err != nil {
			return &fs.PathError{Op: "readdir", Path: f.Name(), Err: err}
		}
		if n <= 0 {
			return nil
		}
		text = text[:0]
		for rest := buf[:n]; len(rest) > 0; {
			size := int(binary.NativeEndian.Uint16(rest[sizeAt:]))
			name, _, _ := bytes.Cut(rest[nameAt:size], []byte{0})
			is := kindOf(rest[kindAt])
			if rest[kindAt] == unix.DT_UNKNOWN {
				is = ask(f, string(name))
			}
			text = appendName(text, name, is)
			rest = rest[size:]
		}
		yield(string(text))
	}
}

// ask returns the kind of a name in the directory f, if the file system does not report
// it in a listing.
func ask(f *os.File, name string) kind {
	var at unix.Stat_t
	if OnFd(f, func(fd int) error { return unix.Fstatat(fd, name, &at, unix.AT_SYMLINK_NOFOLLOW) }) != nil {
		return unknown
	}
	return kindOf(byte(at.Mode & unix.S_IFMT >> 12))
}

func kindOf(dirent byte) kind {
	switch dirent {
	case unix.DT_DIR:
		return directory
	case unix.DT_LNK:
		return symlink
	case unix.DT_UNKNOWN:
		return unknown
	}
	return other
}
