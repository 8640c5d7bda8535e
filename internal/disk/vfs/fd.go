package vfs

import (
	"os"
	"runtime"
)

// WithFd calls do with the descriptor of f and returns its error. It keeps f alive until
// do returns: a file without references is closed by the garbage collector, and its
// number may be another file's at once.
func WithFd(f *os.File, do func(fd int) error) error {
	err := do(int(f.Fd()))
	runtime.KeepAlive(f)
	return err
}
