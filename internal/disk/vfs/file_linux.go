package vfs

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// File is a file of a [Reader], open for reading. It is for one goroutine.
//
// An [os.File] costs more, between opening and closing a file, than reading some hundred
// bytes; so File is the bare number of a file.
type File struct {
	file *os.File // nil: fd
	fd   int
	left int64 // the bytes not read yet, of the size at the time of the open
}

// openFile opens the file path below the directory in, in one call that confines by
// itself. Every error except that there is no file may concern only this call: older
// systems do not know it.
func openFile(in *os.File, path string) (*File, error) {
	fd, size, err := openBeneath(in, path)
	if err != nil {
		return nil, err
	}
	return &File{fd: fd, left: size}, nil
}

// Read reads as an [io.Reader] does. If possible, it returns io.EOF together with the
// last bytes.
func (f *File) Read(p []byte) (int, error) {
	if f.file != nil {
		return f.file.Read(p)
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := uninterrupted(func() (int, error) { return unix.Read(f.fd, p) })
	if err != nil {
		return 0, err
	}
	f.left -= int64(n)
	if n == 0 || n < len(p) && f.left <= 0 {
		return n, io.EOF
	}
	return n, nil
}

// Close closes the file.
func (f *File) Close() error {
	if f.file != nil {
		return f.file.Close()
	}
	return unix.Close(f.fd)
}
