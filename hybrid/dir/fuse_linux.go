package dir

import "golang.org/x/sys/unix"

func onFUSE(path string) bool {
	var on unix.Statfs_t
	return unix.Statfs(path, &on) == nil && on.Type == unix.FUSE_SUPER_MAGIC
}
