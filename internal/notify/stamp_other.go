//go:build !linux && !darwin

package notify

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Stat returns the stamp of path. It follows symlinks. On Windows it opens
// nothing but symlinks, so that it is in nobody's way.
func Stat(path string) Stamp {
	fi, err := os.Stat(path)
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return Stamp{}
	default:
		return Stamp{kind: hidden}
	}
	s := Stamp{kind: file, size: fi.Size(), mtime: fi.ModTime().UnixNano()}
	if fi.IsDir() {
		s.kind = directory
	}
	s.identify(fi)
	return s
}
