package sessionstore

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// keeps reports whether metadata in dir is sure to be kept when it is listed.
// Of other file systems it is not asked.
func keeps(t *testing.T, dir string) bool {
	t.Helper()
	var on unix.Statfs_t
	require.NoError(t, unix.Statfs(dir, &on))
	switch int64(on.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC:
		return true
	}
	return false
}
