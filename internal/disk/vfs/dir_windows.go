package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

func (d *Dir) open(name string, flag int) (*os.File, error) {
	return openShared(func() (*os.File, error) { return d.root.OpenFile(name, flag, 0) })
}

func (d *Dir) syncNames() error { return nil }

// Own does nothing: files belong to the users of the directory.
func Own(*os.Root, string) error { return nil }

// ReplaceNamed gives name the content that write produces. renameio refuses Windows, and its
// package maybe takes the content from memory and truncates the file that it writes.
func (d *Dir) ReplaceNamed(name string, _ fs.FileInfo, write func(io.Writer) error) error {
	return d.Replace(name, true, time.Now(), write)
}

// ownedAs is always true: Windows has no folders in which everybody makes entries.
func ownedAs(fs.FileInfo, fs.FileInfo) bool { return true }

// inUse reports whether err means that another program has the file, or a range of it, to
// itself.
func inUse(err error) bool {
	return errors.Is(err, ErrInUse) || errors.Is(err, windows.ERROR_SHARING_VIOLATION) ||
		errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_USER_MAPPED_FILE)
}

// denied reports whether err is the error of Windows when a file takes the name of an
// open file, when a file is about to vanish, and when permission is lacking.
func denied(err error) bool { return errors.Is(err, windows.ERROR_ACCESS_DENIED) }

// Links returns 1: the system does not report the number of names of a file.
func Links(fs.FileInfo) uint64 { return 1 }
