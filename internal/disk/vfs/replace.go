package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
)

// A Pending is a new file that has its whole content and waits for its name.
// Until then it has a temporary name, which begins with a dot and the name
// that it was made for.
type Pending struct {
	dir    *Dir
	file   *os.File
	temp   string // the temporary name
	name   string // the name that it has now
	closed bool
}

// wholeFile is the number of bytes that means all up to the end of a file.
const wholeFile = 0

// Prepare makes a file for name with the content that write produces. The time of its
// last change becomes at, see [Now]; the zero time leaves it unchanged. With sync the
// content is durable when Prepare returns; without, the system has begun to write it if
// it has a call for this. When Prepare fails, no temporary file stays.
func (d *Dir) Prepare(name string, sync bool, at time.Time, write func(io.Writer) error) (*Pending, error) {
	p, err := d.create(name)
	if err != nil {
		return nil, fmt.Errorf("make temporary file for %s: %w", name, err)
	}
	err = write(&writer{dir: d, file: p.file, name: p.name, sync: sync})
	if err == nil && !at.IsZero() {
		err = d.SetTime(p.name, at)
	}
	switch {
	case err != nil:
	case sync:
		err = d.seam.Do(d.op(seam.Sync, p.name, ""), p.file.Sync)
	default:
		beginSync(p.file, 0, wholeFile)
	}
	if err != nil {
		p.Discard()
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return p, nil
}

// triedNames is the number of temporary names to try until one is free.
const triedNames = 1000

func (d *Dir) create(name string) (*Pending, error) {
	p := &Pending{dir: d}
	err := d.seam.Create(d.op(seam.Create, "", ""), func() (string, error) {
		for range triedNames {
			p.temp = "." + name + strconv.FormatInt(rand.Int64(), 10)
			f, err := d.root.OpenFile(p.temp, os.O_RDWR|os.O_CREATE|os.O_EXCL|LargeFile, Mode)
			if errors.Is(err, fs.ErrExist) {
				continue
			}
			if err = d.owned(p.temp, f, err); err != nil {
				return "", err
			}
			p.file, p.name = f, p.temp
			return p.name, nil
		}
		return "", fs.ErrExist
	})
	return p, err
}

// File returns the open file. It is open until Close, and on Windows until
// Rename: no open file can be renamed there.
func (p *Pending) File() *os.File { return p.file }

// Name returns the name that the file has now.
func (p *Pending) Name() string { return p.name }

// Rename gives the file the name to, and replaces a file of that name. The name is
// durable after [Dir.Sync].
func (p *Pending) Rename(to string) error {
	if runtime.GOOS == "windows" {
		if err := p.Close(); err != nil {
			return err
		}
	}
	if err := p.dir.Rename(p.name, to); err != nil {
		return err
	}
	p.name = to
	return nil
}

// Unname gives a file that Rename named its temporary name again.
func (p *Pending) Unname() error { return p.Rename(p.temp) }

// Named notes that the file got the name in another way.
func (p *Pending) Named(name string) { p.name = name }

// Close closes the file. Further calls do nothing.
func (p *Pending) Close() error {
	if p.closed {
		return nil
	}
	p.closed = true
	return p.file.Close()
}

// Discard closes the file, and removes it unless it was renamed. It returns no error, as
// it follows a failure that counts more: a file that is left is removed later, by its
// name.
func (p *Pending) Discard() {
	_ = p.Close()
	if p.name == p.temp {
		_ = p.dir.Remove(p.name)
	}
}

// writer writes to a file from its start and announces its writes.
type writer struct {
	dir  *Dir
	file *os.File
	name string
	off  int64
	sync bool  // it will be synced
	sent int64 // with sync: the number of bytes that the system has begun to write
}

// early is the number of bytes after which the system begins to write to the disk while
// more is written.
const early = 1 << 20

func (w *writer) Write(p []byte) (int, error) {
	op := w.dir.op(seam.Write, w.name, "")
	op.Off, op.Data = w.off, p
	n := 0
	err := w.dir.seam.Write(op, func(b []byte) (err error) {
		n, err = w.file.Write(b)
		return err
	})
	w.off += int64(n)
	if w.sync && w.off-w.sent >= early {
		beginSync(w.file, w.sent, w.off-w.sent)
		w.sent = w.off
	}
	return n, err
}

// Replace gives name the content that write produces. With sync the content is on the
// disk before the name changes; the name itself is durable after [Dir.Sync]. When it
// fails, the file name is unchanged and no temporary file stays.
//
// The time of the file's last change becomes at; see [Now].
func (d *Dir) Replace(name string, sync bool, at time.Time, write func(io.Writer) error) error {
	p, err := d.Prepare(name, sync, at, write)
	if err != nil {
		return err
	}
	if err := p.Rename(name); err != nil {
		p.Discard()
		return fmt.Errorf("replace %s: %w", name, err)
	}
	return p.Close()
}

// Copy makes to a copy of the file name, which may be a symlink, with its
// time. With sync its content is durable.
func (d *Dir) Copy(name, to string, sync bool) error {
	src, fi, err := Open(d.root, name, os.O_RDONLY)
	if err != nil {
		return err
	}
	err = d.Replace(to, sync, fi.ModTime(), func(w io.Writer) error {
		_, err := io.Copy(w, src)
		return err
	})
	return errors.Join(err, src.Close())
}

// RenameNew gives the file the name to, which must be free. The error Is
// [errors.ErrUnsupported] where the system or the file system has no such call. The name is
// durable after [Dir.Sync].
func (p *Pending) RenameNew(to string) error {
	err := known(p.dir.seam.Do(p.dir.op(seam.Rename, p.name, to), func() error { return p.dir.rename(p.name, to, toNew) }))
	if err == nil {
		p.name = to
	}
	return err
}

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

// Sync makes the file's content durable.
func (a *Append) Sync() error {
	return a.dir.seam.Do(a.dir.op(seam.Sync, a.name, ""), a.file.Sync)
}

// Close closes the file.
func (a *Append) Close() error { return a.file.Close() }

// OpenPlain opens the file name for reading, and faster than the root does. A pipe would
// wait for its writer: the caller must know that name is a file.
func (d *Dir) OpenPlain(name string) (*os.File, error) { return d.open(name, os.O_RDONLY) }

// SyncFile makes the content of the file name durable, whatever program wrote it. It does
// nothing if name is missing, is no regular file, or may not be opened.
func (d *Dir) SyncFile(name string) error {
	f, _, err := Open(d.root, name, os.O_RDWR)
	if err != nil {
		return nil //nolint:nilerr // another program made it so that it cannot be synced
	}
	return errors.Join(d.seam.Do(d.op(seam.Sync, name, ""), f.Sync), f.Close())
}
