//go:build unix

package sessiondir

import (
	"io/fs"
	"syscall"
)

// Links returns the number of names of a file.
func Links(fi fs.FileInfo) uint64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink) //nolint:unconvert // narrower on some systems
	}
	return 1
}
