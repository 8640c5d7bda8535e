package atomicfile

import (
	"errors"
	"io/fs"
	"os"

	"github.com/amplifier-go/sessionstorage/internal/dirread"
	"github.com/amplifier-go/sessionstorage/internal/seam"
)

// An Append is a file that is open to be written at its end, wherever that is
// when a write is done. Several processes may have it open.
type Append struct {
	dir  *Dir
	name string
	file *os.File
}

// Append opens the file name to be appended to, and makes it when it is not
// there; made tells that. The name is durable after [Dir.Sync].
func (d *Dir) Append(name string) (a *Append, made bool, err error) {
	const flags = os.O_RDWR | os.O_APPEND
	var f *os.File
	_, err = d.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = d.seam.Do(d.op(seam.Create, name, ""), func() (err error) {
			f, err = d.root.OpenFile(name, flags|os.O_CREATE|os.O_EXCL|dirread.LargeFile, Mode)
			return d.owned(name, f, err)
		})
		made = err == nil
	}
	if f == nil && (err == nil || errors.Is(err, fs.ErrExist)) {
		f, _, err = dirread.Open(d.root, name, flags)
	}
	if err != nil {
		return nil, false, err
	}
	return &Append{dir: d, name: name, file: f}, made, nil
}

// OpenRead opens the file name for reading. What is no regular file is an
// error, also a pipe, for which it does not wait.
func (d *Dir) OpenRead(name string) (*os.File, error) {
	f, _, err := dirread.Open(d.root, name, os.O_RDONLY)
	return f, err
}

// File returns the open file for reading and for asking about it.
func (a *Append) File() *os.File { return a.file }

// Write appends p in one call of the system; size is the file's, as far as
// the caller knows it.
func (a *Append) Write(p []byte, size int64) error {
	op := a.dir.op(seam.Write, a.name, "")
	op.Off, op.Data = size, p
	return a.dir.seam.Write(op, func(b []byte) error {
		_, err := a.file.Write(b)
		return err
	})
}

// Truncate cuts the file to size bytes, such as to undo a write that failed.
// The caller keeps other writers away meanwhile.
func (a *Append) Truncate(size int64) error {
	op := a.dir.op(seam.Truncate, a.name, "")
	op.Off = size
	return a.dir.seam.Do(op, func() error {
		err := a.file.Truncate(size)
		if errors.Is(err, fs.ErrPermission) { // Windows: what was opened to append cannot be cut
			err = a.cut(size)
		}
		return err
	})
}

// cut is Truncate by the name of the file, as it is opened to be changed in
// place. It is an error when the name is that of another file now.
func (a *Append) cut(size int64) (err error) {
	edit, err := a.dir.Edit(a.name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, edit.Close()) }()
	mine, err := a.file.Stat()
	if err != nil {
		return err
	}
	fi, err := edit.File().Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(mine, fi) {
		return &fs.PathError{Op: "truncate", Path: a.name, Err: errors.New("another file has that name now")}
	}
	return edit.File().Truncate(size)
}

// Sync makes the file's content durable.
func (a *Append) Sync() error {
	return a.dir.seam.Do(a.dir.op(seam.Sync, a.name, ""), a.file.Sync)
}

// Close closes the file.
func (a *Append) Close() error { return a.file.Close() }
