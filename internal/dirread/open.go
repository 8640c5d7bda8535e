package dirread

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/amplifier-go/sessionstorage/internal/leased"
	"github.com/amplifier-go/sessionstorage/internal/sharing"
)

// ErrNotRegular is the error for what is no regular file.
var ErrNotRegular = errors.New("not a regular file")

// Open opens the existing file name of root; flag is one of [os.O_RDONLY] and
// [os.O_RDWR], and may have [os.O_APPEND]. The error Is [ErrNotRegular] when it
// is no regular file.
func Open(root *os.Root, name string, flag int) (*os.File, fs.FileInfo, error) {
	f, err := sharing.Open(func() (*os.File, error) {
		return leased.Open(func() (*os.File, error) { return root.OpenFile(name, flag|syscall.O_NONBLOCK|LargeFile, 0) })
	})
	if err != nil {
		return nil, nil, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, fi, nil
}
