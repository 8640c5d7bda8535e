package lock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

const wholeFile = ^uint32(0) // low and high half of the locked length

func openFile(root *os.Root, _ *os.File, name string, perm fs.FileMode) (*os.File, error) {
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	file, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE, perm.Perm())
	if errors.Is(err, windows.ERROR_SHARING_VIOLATION) { // another program has the file open: it locks it, or scans it for a moment
		err = ErrBusy
	}
	return file, err
}

func lock(fd int) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(fd), flags, 0, wholeFile, wholeFile, new(windows.Overlapped))
	switch {
	case err == nil:
		return nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return ErrBusy
	case errors.Is(err, windows.ERROR_NOT_SUPPORTED), errors.Is(err, windows.ERROR_INVALID_FUNCTION):
		return fmt.Errorf("file system has no locks: %w: %w", errors.ErrUnsupported, err)
	default:
		return os.NewSyscallError("LockFileEx", err)
	}
}

func unlock(fd int) error {
	err := windows.UnlockFileEx(windows.Handle(fd), 0, wholeFile, wholeFile, new(windows.Overlapped))
	return os.NewSyscallError("UnlockFileEx", err)
}
