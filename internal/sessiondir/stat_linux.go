package sessiondir

import (
	"golang.org/x/sys/unix"

	"github.com/amplifier-go/sessionstorage/internal/dirread"
)

// Stat returns the stamp of the file name, a name in the directory, without
// following a symlink.
func (d *Dir) Stat(name string) (Stamp, error) {
	in := d.Opened()
	if in == nil {
		return d.lstat(name)
	}
	return dirread.StampAt(in, name, d.seam)
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
	err = dirread.WithFd(in, func(fd int) error { return unix.Fstatat(fd, id, &at, 0) })
	return err == nil && at.Ino == is.Inode && uint64(at.Dev) == is.Dev
}
