package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Open opens the existing file name of root; flag is one of [os.O_RDONLY] and
// [os.O_RDWR], and may have [os.O_APPEND]. The error Is [ErrNotRegular], and names the
// kind, when it is no regular file.
func Open(root *os.Root, name string, flag int) (*os.File, fs.FileInfo, error) {
	f, err := openShared(func() (*os.File, error) {
		return openLeased(func() (*os.File, error) { return root.OpenFile(name, flag|syscall.O_NONBLOCK|LargeFile, 0) })
	})
	if err != nil {
		if fi, there := root.Stat(name); there == nil && !fi.Mode().IsRegular() { // sockets cannot be opened
			err = irregular(name, fi.Mode())
		}
		return nil, nil, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = irregular(name, fi.Mode())
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, fi, nil
}

// irregular returns the error for a file of that mode.
func irregular(path string, mode fs.FileMode) error {
	kind := "something else"
	switch {
	case mode.IsDir():
		kind = "a directory"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	}
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%w but %s", ErrNotRegular, kind)}
}

// NotRegular returns an error, which Is [ErrNotRegular], when path leads to something
// other than a regular file. It opens nothing.
func NotRegular(path string) error {
	fi, err := os.Stat(path)
	if err != nil || fi.Mode().IsRegular() {
		return nil
	}
	return irregular(path, fi.Mode())
}
