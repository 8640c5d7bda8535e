//go:build !linux && !darwin

package notify

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Stat returns the state of path. It follows symlinks. On Windows it opens
// nothing but symlinks, so that it is in nobody's way.
func Stat(path string) State {
	fi, err := os.Stat(path)
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return State{}
	default:
		return State{kind: hidden}
	}
	s := State{kind: file, size: fi.Size(), mtime: fi.ModTime().UnixNano()}
	if fi.IsDir() {
		s.kind = directory
	}
	s.identify(fi)
	return s
}
