package sessiondir

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// finelyTimed reports whether the file system of path gives every change that
// follows a look at a file's times a time of its own: since Linux 6.13 some do.
func finelyTimed(path string) bool {
	var name unix.Utsname
	var fs unix.Statfs_t
	if unix.Uname(&name) != nil || unix.Statfs(path, &fs) != nil {
		return false
	}
	major, rest, _ := strings.Cut(unix.ByteSliceToString(name.Release[:]), ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, err := strconv.Atoi(major)
	b, err2 := strconv.Atoi(minor)
	if err != nil || err2 != nil || a < 6 || a == 6 && b < 13 {
		return false
	}
	switch int64(fs.Type) { // narrower on 32 bit
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC:
		return true
	}
	return false
}
