//go:build unix

package atomicfile

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/amplifier-go/sessionstorage/internal/dirread"
)

// open opens the file name. It spares what os does for files that may have to
// be waited for, which takes longer than the opening; a symlink goes the long
// way.
func (d *Dir) open(name string, flag int) (*os.File, error) {
	if !single(name) {
		return d.root.OpenFile(name, flag|dirread.LargeFile, 0)
	}
	self, err := d.Handle()
	if err != nil {
		return nil, err
	}
	var fd int
	err = dirread.WithFd(self, func(in int) (err error) {
		fd, err = unix.Openat(in, name, flag|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return d.root.OpenFile(name, flag|dirread.LargeFile, 0) // which tells the error, too
	}
	return os.NewFile(uintptr(fd), name), nil
}

// single reports whether name is a name in the directory and no path, which
// only the root may follow.
func single(name string) bool { return name != ".." && !strings.Contains(name, "/") }
