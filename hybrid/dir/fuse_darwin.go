package dir

import (
	"strings"

	"golang.org/x/sys/unix"
)

func onFUSE(path string) bool {
	var on unix.Statfs_t
	return unix.Statfs(path, &on) == nil && strings.Contains(unix.ByteSliceToString(on.Fstypename[:]), "fuse")
}
