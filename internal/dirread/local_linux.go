package dirread

import (
	"os"

	"golang.org/x/sys/unix"
)

// IsLocal reports whether an open file or directory is on one of the local
// file systems that are known to behave: whatever changes in a file or
// directory changes its time, and the kernel knows every program that has one
// of its files open. Others are on other machines, or keep no times of
// directories at all.
func IsLocal(f *os.File) bool {
	local := false
	_ = WithFd(f, func(fd int) error { local = isLocal(fd); return nil }) // never fails
	return local
}

// IsLocalAt is [IsLocal] of what is at path, which it does not open.
func IsLocalAt(path string) bool {
	var on unix.Statfs_t
	_, err := uninterrupted(func() (int, error) { return 0, unix.Statfs(path, &on) })
	return err == nil && isLocalType(int64(on.Type))
}

func isLocal(fd int) bool {
	var on unix.Statfs_t
	_, err := uninterrupted(func() (int, error) { return 0, unix.Fstatfs(fd, &on) })
	return err == nil && isLocalType(int64(on.Type))
}

func isLocalType(magic int64) bool {
	switch magic {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC,
		unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC:
		return true
	}
	return false
}
