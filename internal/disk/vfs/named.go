package vfs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// WriteNamed gives the file that a user named, an export or a report, the content that
// write produces. A regular file is replaced whole and durably, and keeps its mode and
// its owner. A new file appears whole, for the owner alone. A symlink stays: WriteNamed
// writes the file that it leads to. After an error, and at every instant before the end,
// the file is the former one; only a killed process leaves a temporary file beside it.
//
// A FIFO, a device and the standard output, which may be a regular file, get the content as
// write produces it. WriteNamed waits for the reader of a FIFO until ctx ends.
//
// The error Is [fs.ErrExist] for a file below the directory store: the files of sessions
// change under their locks.
func WriteNamed(ctx context.Context, name, store string, write func(io.Writer) error) error {
	was, err := os.Stat(name)
	stdout, _ := os.Stdout.Stat()
	switch {
	case err != nil:
		was = nil
	case os.SameFile(was, stdout):
		return write(os.Stdout)
	case was.IsDir():
		return &fs.PathError{Op: "write", Path: name, Err: syscall.EISDIR}
	case !was.Mode().IsRegular():
		return writeThrough(ctx, name, was.Mode(), write)
	}
	folder, base, err := follow(name)
	if err != nil {
		return fmt.Errorf("find the folder of %s: %w", name, err)
	}
	if was != nil && IsBelow(folder, store) {
		return &fs.PathError{Op: "replace a file of a session", Path: name, Err: fs.ErrExist}
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	dir := New(root, nil)
	err = dir.ReplaceNamed(base, was, write)
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("replace %s by a new file in its folder, which must be yours: %w", name, err)
	}
	if err == nil {
		err = dir.Sync()
	}
	return errors.Join(err, dir.Close())
}

// OpenBeside opens the folder path, which lies beside a file that a user named, and makes
// it, for its owner alone, if it is missing. It is no symlink, and belongs to the user of this
// process or to whom the folder above belongs: else the error Is [fs.ErrExist], and nothing is
// followed.
func OpenBeside(path string) (dir *Dir, err error) {
	above, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	in := New(above, nil)
	defer func() { err = errors.Join(err, in.Close()) }()
	base := filepath.Base(path)
	if err := in.MkdirAll(base); err != nil {
		return nil, err
	}
	is, err := above.Lstat(base)
	if err != nil {
		return nil, err
	}
	refused := &fs.PathError{Op: "open what is not a folder of yours", Path: path, Err: fs.ErrExist}
	at, err := above.Stat(".")
	if err != nil || !is.IsDir() || !ownedAs(is, at) {
		return nil, cmp.Or(err, error(refused))
	}
	root, err := above.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	if now, err := root.Stat("."); err != nil || !os.SameFile(is, now) { // replaced in between
		return nil, errors.Join(cmp.Or(err, error(refused)), root.Close())
	}
	return New(root, nil), nil
}

// writeThrough writes to a FIFO or a device.
func writeThrough(ctx context.Context, name string, mode fs.FileMode, write func(io.Writer) error) error {
	flag := os.O_WRONLY
	if mode&fs.ModeNamedPipe != 0 {
		flag |= syscall.O_NONBLOCK // else the opening itself waits for a reader
	}
	f, err := os.OpenFile(name, flag, 0)
	for errors.Is(err, syscall.ENXIO) && mode&fs.ModeNamedPipe != 0 {
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for a reader of %s: %w", name, ctx.Err())
		case <-time.After(10 * time.Millisecond):
			f, err = os.OpenFile(name, flag, 0)
		}
	}
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = f.SetWriteDeadline(time.Unix(1, 0)) })() // devices have none
	err = write(f)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = ctx.Err()
	}
	return errors.Join(err, f.Close())
}

// follow returns the folder and the name in it to which symlinks lead from name. The
// folder must exist, the file need not.
func follow(name string) (folder, base string, err error) {
	for range 40 { // as Linux does
		folder, base = filepath.Split(name)
		if base == "" {
			return "", "", fmt.Errorf("%q names no file: %w", name, fs.ErrInvalid)
		}
		if folder, err = filepath.EvalSymlinks(cmp.Or(folder, ".")); err != nil {
			return "", "", err
		}
		to, err := os.Readlink(filepath.Join(folder, base))
		if err != nil {
			return folder, base, nil
		}
		if name = to; !filepath.IsAbs(to) {
			name = folder + string(filepath.Separator) + to // not Join: behind a symlink, .. is another folder
		}
	}
	return "", "", &fs.PathError{Op: "follow", Path: name, Err: syscall.ELOOP}
}

// IsBelow reports whether a folder is the directory top or below it.
func IsBelow(folder, top string) bool {
	is, err := os.Stat(top)
	at, failed := os.Stat(folder)
	for below := at; err == nil && failed == nil; below = at {
		if os.SameFile(is, at) {
			return true
		}
		folder += string(filepath.Separator) + ".."
		if at, failed = os.Stat(folder); os.SameFile(at, below) {
			return false
		}
	}
	return false
}
