//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package lock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// openFile does not use os.Root, which follows a symlink that stays inside the root even
// with O_NOFOLLOW. dir is root's directory, or nil. name is a base name.
func openFile(root *os.Root, dir *os.File, name string, perm fs.FileMode) (file *os.File, err error) {
	if dir == nil {
		if dir, err = root.Open("."); err != nil {
			return nil, err
		}
		defer dir.Close()
	}
	err = vfs.OnFd(dir, func(at int) error {
		const flags = unix.O_RDWR | unix.O_NOFOLLOW | unix.O_CLOEXEC
		fd, err := unix.Openat(at, name, flags, 0)
		if errors.Is(err, unix.ENOENT) {
			fd, err = unix.Openat(at, name, flags|unix.O_CREAT|unix.O_EXCL, uint32(perm.Perm()))
			switch {
			case errors.Is(err, unix.EEXIST): // another one made it just now
				fd, err = unix.Openat(at, name, flags|unix.O_CREAT, uint32(perm.Perm()))
			case err == nil:
				err = own(fd, at, name)
			}
		}
		if err == nil {
			file = os.NewFile(uintptr(fd), name)
		}
		return err
	})
	return file, err
}

// own gives the new file fd to the owner of the directory at, if root made it for another
// user, since that user could not lock it otherwise. If own fails, fd is closed and the
// file is removed.
func own(fd, at int, name string) error {
	var dir unix.Stat_t
	if os.Geteuid() != 0 || unix.Fstat(at, &dir) != nil || dir.Uid == 0 {
		return nil
	}
	if err := unix.Fchown(fd, int(dir.Uid), int(dir.Gid)); err != nil {
		return errors.Join(fmt.Errorf("give it to the owner of its directory: %w", err), unix.Close(fd), unix.Unlinkat(at, name, 0))
	}
	return nil
}

func lock(fd int) error {
	err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EWOULDBLOCK):
		return ErrBusy
	case errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOLCK), errors.Is(err, unix.EOPNOTSUPP):
		return fmt.Errorf("file system has no locks: %w: %w", errors.ErrUnsupported, err)
	default:
		return os.NewSyscallError("flock", err)
	}
}

func unlock(fd int) error {
	return os.NewSyscallError("flock", unix.Flock(fd, unix.LOCK_UN))
}
