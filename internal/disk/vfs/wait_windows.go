package vfs

import (
	"errors"

	"golang.org/x/sys/windows"
)

// inUse reports whether err means that another program has the file, or a range of it, to
// itself.
func inUse(err error) bool {
	return errors.Is(err, ErrInUse) || errors.Is(err, windows.ERROR_SHARING_VIOLATION) ||
		errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_USER_MAPPED_FILE)
}

// denied reports whether err is the error of Windows when a file takes the name of an
// open file, when a file is about to vanish, and when permission is lacking.
func denied(err error) bool { return errors.Is(err, windows.ERROR_ACCESS_DENIED) }
