package vfs

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
)

// An Edit is a file that is open to be changed in place. No reader may rely on its
// content during the change.
type Edit struct {
	dir  *Dir
	name string
	file *os.File

	synced chan error // result of a sync that was begun; nil: none was begun
}

// Edit opens the existing file name to be changed in place.
func (d *Dir) Edit(name string) (*Edit, error) {
	f, err := d.open(name, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	return &Edit{dir: d, name: name, file: f}, nil
}

// File returns the open file for reading and for its file info.
func (e *Edit) File() *os.File { return e.file }

// Close closes the file. It waits for a sync that was begun.
func (e *Edit) Close() error {
	if e.synced != nil {
		<-e.synced
	}
	return e.file.Close()
}

// WriteAt writes p at offset off in one call.
func (e *Edit) WriteAt(p []byte, off int64) error {
	op := e.dir.op(seam.Write, e.name, "")
	op.Off, op.Data = off, p
	return e.dir.seam.Write(op, func(b []byte) error {
		return WhenFree(func() error { // everything again, to the same place
			_, err := e.file.WriteAt(b, off)
			return err
		})
	})
}

// Truncate cuts the file to size bytes.
func (e *Edit) Truncate(size int64) error {
	op := e.dir.op(seam.Truncate, e.name, "")
	op.Off = size
	return e.dir.change(op, func() error { return e.file.Truncate(size) })
}

// StartSync begins a sync, for which Sync waits.
func (e *Edit) StartSync() {
	e.synced = make(chan error, 1)
	go func() { e.synced <- e.file.Sync(); close(e.synced) }()
}

// Sync makes the file's content and times durable.
func (e *Edit) Sync() error {
	return e.dir.seam.Do(e.dir.op(seam.Sync, e.name, ""), func() error {
		if e.synced != nil {
			return <-e.synced
		}
		return e.file.Sync()
	})
}

// BeginSync lets the system begin to write the bytes from off on to the disk, and does
// not wait for it.
func (e *Edit) BeginSync(off int64) { beginSync(e.file, off, wholeFile) }

// SetTime sets the time of the last change.
func (e *Edit) SetTime(at time.Time) error { return e.dir.SetTime(e.name, at) }

// An Append is a file that is open to be written at its end, wherever that is
// when a write is done. Several processes may have it open.
type Append struct {
	dir  *Dir
	name string
	file *os.File
}

// Append opens the file name to be appended to, and makes it if it is missing; made
// reports whether it did. The name is durable after [Dir.Sync].
func (d *Dir) Append(name string) (a *Append, made bool, err error) {
	const flags = os.O_RDWR | os.O_APPEND
	var f *os.File
	_, err = d.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = d.seam.Do(d.op(seam.Create, name, ""), func() (err error) {
			f, err = d.root.OpenFile(name, flags|os.O_CREATE|os.O_EXCL|LargeFile, Mode)
			return d.owned(name, f, err)
		})
		made = err == nil
	}
	if f == nil && (err == nil || errors.Is(err, fs.ErrExist)) {
		f, _, err = Open(d.root, name, flags)
	}
	if err != nil {
		return nil, false, err
	}
	return &Append{dir: d, name: name, file: f}, made, nil
}

// OpenRead opens the file name for reading. Anything but a regular file is an error, also
// a pipe, for which it does not wait.
func (d *Dir) OpenRead(name string) (*os.File, error) {
	f, _, err := Open(d.root, name, os.O_RDONLY)
	return f, err
}

// File returns the open file for reading and for its file info.
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

// Truncate cuts the file to size bytes, such as to undo a write that failed. The caller
// keeps other writers away during the call.
func (a *Append) Truncate(size int64) error {
	op := a.dir.op(seam.Truncate, a.name, "")
	op.Off = size
	return a.dir.seam.Do(op, func() error {
		err := a.file.Truncate(size)
		if errors.Is(err, fs.ErrPermission) { // Windows: a file that was opened to append cannot be truncated
			err = a.cut(size)
		}
		return err
	})
}

// cut is Truncate by the name of the file, which it opens to be changed in place. It is
// an error when another file has the name now.
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

// OpenPlain opens the file name for reading, and faster than the root does. A pipe would
// wait for its writer: the caller must know that name is a file.
func (d *Dir) OpenPlain(name string) (*os.File, error) { return d.open(name, os.O_RDONLY) }
