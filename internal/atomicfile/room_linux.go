package atomicfile

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Room is the place on the disk for what is about to be written to a file.
// ext4 writes faster into blocks that it has chosen before, and need not
// flush them when a file that was cut is closed. Neither content nor size of
// the file change. A nil Room does nothing.
type Room struct {
	file *os.File
	end  int64 // of what is reserved
}

// newRoom returns the room behind the end of f, which is written there and by
// nobody else. It is nil where nothing is gained: on file systems other than
// ext4, and for what is no file or stands elsewhere.
func newRoom(f *os.File) *Room {
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() {
		return nil
	}
	if at, err := f.Seek(0, io.SeekCurrent); err != nil || at != fi.Size() {
		return nil
	}
	r := &Room{file: f, end: fi.Size()}
	var fs unix.Statfs_t
	r.control(func(fd int) error { return unix.Fstatfs(fd, &fs) })
	if int64(fs.Type) != unix.EXT4_SUPER_MAGIC {
		return nil
	}
	return r
}

// Reserve reserves the place of the next n bytes. That it could not is for
// the write to tell.
func (r *Room) Reserve(n int64) {
	if r == nil || n <= 0 {
		return
	}
	r.control(func(fd int) error { return unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, r.end, n) })
	r.end += n
}

func (r *Room) control(do func(fd int) error) {
	c, err := r.file.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Control(func(fd uintptr) { _ = do(int(fd)) })
}
