//go:build !linux

package dirread

import (
	"errors"
	"os"
)

// File is a file of a [Dir], open for reading. It is for one goroutine.
type File struct{ file *os.File }

// openFile has no fast way here.
func openFile(*os.File, string) (*File, error) { return nil, errors.ErrUnsupported }

// Read reads as an [io.Reader] does.
func (f *File) Read(p []byte) (int, error) { return f.file.Read(p) }

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }
