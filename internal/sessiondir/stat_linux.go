package sessiondir

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Stat returns the stamp of the file name, a name in the directory, without
// following a symlink.
func (d *Dir) Stat(name string) (Stamp, error) {
	in := d.Opened()
	if in == nil {
		return d.lstat(name)
	}
	var at unix.Stat_t
	if err := unix.Fstatat(int(in.Fd()), name, &at, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return Stamp{}, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return Stamp{
		Dev: uint64(at.Dev), Inode: at.Ino, Size: at.Size,
		Mtime: d.seam.Round(time.Unix(int64(at.Mtim.Sec), int64(at.Mtim.Nsec))), // narrower on 32 bit
		Ctime: d.seam.Round(time.Unix(int64(at.Ctim.Sec), int64(at.Ctim.Nsec))),
	}, nil
}

// names returns the stamp of what has the name, and whether that is f.
func (d *Dir) names(name string, f *os.File) (at Stamp, same bool, err error) {
	var held unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &held); err != nil {
		return at, false, err
	}
	at, err = d.Stat(name)
	return at, at.Inode == held.Ino && at.Dev == uint64(held.Dev), err
}

// leads reports whether id leads to the directory with the stamp is.
func (b *Base) leads(id string, is Stamp) bool {
	b.mu.Lock()
	top := b.top
	b.mu.Unlock()
	if top == nil {
		return false
	}
	in, err := top.Handle()
	if err != nil {
		return false
	}
	var at unix.Stat_t
	err = unix.Fstatat(int(in.Fd()), id, &at, 0)
	return err == nil && at.Ino == is.Inode && uint64(at.Dev) == is.Dev
}

// statEntry returns when the entry name of the sessions directory in was
// modified, and whether it is a directory; symlinks are followed.
func (b *Base) statEntry(in *os.File, name string) (modified time.Time, isDir bool, err error) {
	var at unix.Stat_t
	if err := unix.Fstatat(int(in.Fd()), name, &at, 0); err != nil {
		return modified, false, err
	}
	return time.Unix(int64(at.Mtim.Sec), int64(at.Mtim.Nsec)), at.Mode&unix.S_IFMT == unix.S_IFDIR, nil
}

// Quickly returns the content of the file name of session id, unless anything
// is unusual about it: then ok is false, and [Base.Dir] tells more. A writer
// may have been at it, so it is for files that tell by themselves whether they
// are whole.
func (b *Base) Quickly(id, name string) (data []byte, ok bool) {
	top, err := b.open()
	if err != nil {
		return nil, false
	}
	in, err := top.Handle()
	if err != nil {
		return nil, false
	}
	// A symlink could lead to another session.
	fd, size, err := openBeneath(in, id+"/"+name, unix.O_NOFOLLOW)
	if err != nil {
		return nil, false
	}
	if size < quickSize {
		data, err = readQuickly(fd, int(size))
	}
	return data, errors.Join(err, unix.Close(fd)) == nil && data != nil
}

const quickSize = 1 << 20

// readQuickly reads a file of that size, and nothing of one that is larger or
// smaller.
func readQuickly(fd, size int) ([]byte, error) {
	data := make([]byte, size+1)
	n, err := unix.Read(fd, data)
	if err != nil || n != size {
		return nil, err
	}
	return data[:n:n], nil
}
