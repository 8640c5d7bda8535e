//go:build unix

package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// open opens the file name. It avoids the preparations of package os for files that may
// block, which take longer than the open; a symlink goes the long way.
func (d *Dir) open(name string, flag int) (*os.File, error) {
	if !single(name) {
		return d.root.OpenFile(name, flag|LargeFile, 0)
	}
	self, err := d.Handle()
	if err != nil {
		return nil, err
	}
	var fd int
	err = WithFd(self, func(in int) (err error) {
		fd, err = unix.Openat(in, name, flag|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return d.root.OpenFile(name, flag|LargeFile, 0) // which returns the error, too
	}
	return os.NewFile(uintptr(fd), name), nil
}

// single reports whether name is a name in the directory and no path, which
// only the root may follow.
func single(name string) bool { return name != ".." && !strings.Contains(name, "/") }

// syncNames syncs the directory. A file system that has no such call keeps
// names as durable as it can by itself.
func (d *Dir) syncNames() error {
	self, err := d.Handle()
	if err != nil {
		return err
	}
	err = self.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// Own gives the file or directory name, which this process has just made below the
// directory root, to the owner and the group of root. Own acts only in a process of root:
// files that root leaves in another user's sessions would be of no use to that user.
func Own(root *os.Root, name string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	fi, err := root.Stat(".")
	if err != nil {
		return err
	}
	is, ok := fi.Sys().(*syscall.Stat_t)
	if !ok || is.Uid == 0 && int(is.Gid) == os.Getegid() {
		return nil
	}
	if err := root.Lchown(name, int(is.Uid), int(is.Gid)); err != nil {
		return fmt.Errorf("give it to the owner of %s: %w", root.Name(), err)
	}
	return nil
}

// ReplaceNamed gives name the content that write produces, and the mode and the owner of
// was, which is nil where there is no such file.
func (d *Dir) ReplaceNamed(name string, was fs.FileInfo, write func(io.Writer) error) error {
	p, err := renameio.NewPendingFile(name, renameio.WithRoot(d.root), renameio.WithStaticPermissions(Mode))
	if err != nil {
		return err
	}
	err = likeFormer(d.root, p.File, was)
	if err == nil {
		err = write(p)
	}
	if err == nil {
		err = p.CloseAtomicallyReplace()
	}
	if err != nil {
		err = errors.Join(err, p.Cleanup())
	}
	return err
}

// likeFormer gives f, which will replace the file was, its mode and its owner. Without
// such a file, f gets the owner of [Own].
func likeFormer(root *os.Root, f *os.File, was fs.FileInfo) error {
	if was == nil {
		return Own(root, filepath.Base(f.Name()))
	}
	made, err := f.Stat()
	if err != nil {
		return err
	}
	is, ok := was.Sys().(*syscall.Stat_t)
	now, known := made.Sys().(*syscall.Stat_t)
	if ok && known && (is.Uid != now.Uid || is.Gid != now.Gid) {
		if err := f.Chown(int(is.Uid), int(is.Gid)); err != nil {
			return fmt.Errorf("keep its owner: %w", err)
		}
	}
	return f.Chmod(was.Mode())
}

// ownedAs reports whether a folder belongs to the user of this process, or to the owner of the
// folder above, who may replace it anyway.
func ownedAs(folder, above fs.FileInfo) bool {
	is, ok := folder.Sys().(*syscall.Stat_t)
	at, known := above.Sys().(*syscall.Stat_t)
	return ok && known && (int64(is.Uid) == int64(os.Geteuid()) || is.Uid == at.Uid)
}

// inUse knows no error of the system here: only seams of tests return ErrInUse.
func inUse(err error) bool { return errors.Is(err, ErrInUse) }

func denied(error) bool { return false }

// Links returns the number of names of a file.
func Links(fi fs.FileInfo) uint64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink) //nolint:unconvert // narrower on some systems
	}
	return 1
}
