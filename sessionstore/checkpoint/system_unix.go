//go:build unix

package checkpoint

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// isReadOnly reports whether err means that the file system takes no files.
func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

// isOwn reports whether the file belongs to the user of this process.
func isOwn(fi fs.FileInfo) bool {
	s, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}
