//go:build linux || darwin

package opencode

import (
	"math"

	"golang.org/x/sys/unix"
)

// room returns how many bytes a file in a folder may have.
func room(dir string) int64 {
	var on unix.Statfs_t
	if unix.Statfs(dir, &on) != nil {
		return math.MaxInt64
	}
	return int64(min(on.Bavail, math.MaxInt64/uint64(max(on.Bsize, 1)))) * int64(on.Bsize)
}
