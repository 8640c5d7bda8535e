package sessiondir

import (
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/amplifier-go/sessionstorage/internal/fault"
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
	return stampIn(&at, d.seam), nil
}

func stampIn(at *unix.Stat_t, seam *fault.Seam) Stamp {
	return Stamp{
		Dev: uint64(at.Dev), Inode: at.Ino, Size: at.Size,
		Mtime: seam.Round(time.Unix(int64(at.Mtim.Sec), int64(at.Mtim.Nsec))), // narrower on 32 bit
		Ctime: seam.Round(time.Unix(int64(at.Ctim.Sec), int64(at.Ctim.Nsec))),
	}
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
