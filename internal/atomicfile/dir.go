package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/fault"
)

// Mode is the permission of every file that is made: for the owner alone.
const Mode fs.FileMode = 0o600

// Dir is an open directory. Names given to its methods are base names, and
// symlinks among them are never followed out of it.
type Dir struct {
	root *os.Root
	seam *fault.Seam

	mu   sync.Mutex // guards self
	self *os.File   // the directory itself; opened when first needed
}

// New returns the directory that root confines; seam may be nil.
func New(root *os.Root, seam *fault.Seam) *Dir {
	return &Dir{root: root, seam: seam}
}

// At returns the directory that root confines, under the same seam.
func (d *Dir) At(root *os.Root) *Dir { return New(root, d.seam) }

// Close releases the directory and its root. Further calls do nothing.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var err error
	if d.self != nil {
		err = d.self.Close()
		d.self = nil
	}
	return errors.Join(err, d.root.Close())
}

// Handle returns the directory itself for reading; Close closes it.
func (d *Dir) Handle() (*os.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.self != nil {
		return d.self, nil
	}
	f, err := d.root.Open(".")
	if err == nil {
		d.self = f
	}
	return f, err
}

// OpenPlain opens the file name for reading, and faster than the root does. A
// pipe would wait for its writer: it is for what was seen to be a file.
func (d *Dir) OpenPlain(name string) (*os.File, error) { return d.open(name, os.O_RDONLY) }

// Opened returns the directory itself if it was needed before, else nil.
func (d *Dir) Opened() *os.File {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.self
}

// Root returns the root for reading. What changes the disk goes through Dir.
func (d *Dir) Root() *os.Root { return d.root }

func (d *Dir) op(kind fault.Kind, name, to string) fault.Op {
	return fault.Op{Kind: kind, Dir: d.root.Name(), Name: name, To: to}
}

// Replace gives name the content that write produces. With sync the content
// is on the disk before the name changes; the name itself is durable after
// [Dir.Sync]. When it fails, name is what it was and no temporary file stays.
//
// The time of the file's last change becomes at; see [Now].
func (d *Dir) Replace(name string, sync bool, at time.Time, write func(io.Writer) error) error {
	return d.replace(name, sync, at, write, func(t *temp) error { return d.commit(t, name, sync) })
}

// Keep says what becomes of the file that a new one replaces.
type Keep struct {
	As  string                 // the name that it gets; empty: none
	Was func(fs.FileInfo) bool // whether it is the expected file
}

// ErrOvertaken tells that another writer, one that honours no lock, changed a
// file while it was about to be replaced.
var ErrOvertaken = errors.New("another writer changed the file")

// ReplaceKeeping is Replace that keeps what name was, as keep says once all
// but the change of names is done. If keep fails, nothing changes, and neither
// if name turns out to be another file than the expected one; that error Is
// [ErrOvertaken]. At no time do both names lead to one file: a tool that
// writes a backup in place would harm both.
func (d *Dir) ReplaceKeeping(name string, sync bool, at time.Time, write func(io.Writer) error, keep func() (Keep, error)) error {
	return d.replace(name, sync, at, write, func(t *temp) error {
		if sync {
			if err := d.seam.Do(d.op(fault.Sync, t.name(), ""), t.file().Sync); err != nil {
				return err
			}
		}
		k, err := keep()
		if err != nil {
			return err
		}
		if k.As == "" {
			return d.commit(t, name, false)
		}
		return d.trade(t, name, k, sync)
	})
}

// trade gives t the name, and what had it the name that k says.
func (d *Dir) trade(t *temp, name string, k Keep, sync bool) error {
	if err := t.close(); err != nil {
		return err
	}
	if d.same(name, k.As) {
		return d.Rename(t.name(), name)
	}
	err := d.Exchange(name, t.name())
	if errors.Is(err, errHalf) {
		return err
	}
	if err != nil { // no way to swap names
		if err := d.Copy(name, k.As, sync); err != nil {
			return err
		}
		return d.Rename(t.name(), name)
	}
	was, err := d.root.Lstat(t.name())
	if err == nil && !k.Was(was) {
		err = ErrOvertaken
	}
	if err == nil {
		err = d.Rename(t.name(), k.As)
	}
	if err == nil {
		return nil
	}
	if undo := d.Rename(t.name(), name); undo != nil { // which takes no space, as an exchange may
		return errors.Join(errHalf, err, undo)
	}
	return err
}

// same reports whether two names lead to one file.
func (d *Dir) same(a, b string) bool {
	fa, err := d.root.Lstat(a)
	if err != nil {
		return false
	}
	fb, err := d.root.Lstat(b)
	return err == nil && os.SameFile(fa, fb)
}

// Copy makes to a copy of the file name, which may be a symlink, with its
// time. With sync its content is durable.
func (d *Dir) Copy(name, to string, sync bool) error {
	src, err := d.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would not open
	if err != nil {
		return err
	}
	fi, err := src.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = &fs.PathError{Op: "copy", Path: name, Err: errors.New("not a regular file")}
	}
	if err == nil {
		err = d.Replace(to, sync, fi.ModTime(), func(w io.Writer) error {
			_, err := io.Copy(w, src)
			return err
		})
	}
	return errors.Join(err, src.Close())
}

func (d *Dir) replace(name string, sync bool, at time.Time, write func(io.Writer) error, commit func(*temp) error) error {
	tmp, err := d.create(name)
	if err != nil {
		return fmt.Errorf("make temporary file for %s: %w", name, err)
	}
	err = write(&writer{dir: d, file: tmp.file(), name: tmp.name(), sync: sync})
	if err == nil {
		err = d.SetTime(tmp.name(), at)
	}
	if err != nil {
		tmp.discard()
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := commit(tmp); err != nil {
		if !errors.Is(err, errHalf) { // else it may be what name was
			tmp.discard()
		}
		return fmt.Errorf("replace %s: %w", name, err)
	}
	return nil
}

// Now returns the time, but a later one than after. The clock of a file
// system, which is coarser, hardly ever gives that time to another change.
func Now(after time.Time) time.Time {
	now := time.Now()
	if !now.After(after) {
		return after.Add(time.Microsecond)
	}
	return now
}

// SetTime sets the time of the last change of the file name.
func (d *Dir) SetTime(name string, at time.Time) error {
	op := d.op(fault.Chtimes, name, "")
	op.Time = at
	return d.seam.Do(op, func() error { return d.setTime(name, at) })
}

// Rename gives the file name the name to, whatever stood there before.
func (d *Dir) Rename(name, to string) error {
	return d.seam.Do(d.op(fault.Rename, name, to), func() error { return d.root.Rename(name, to) })
}

// Link gives the file name the second name to, which must be free.
func (d *Dir) Link(name, to string) error {
	return d.seam.Do(d.op(fault.Link, name, to), func() error { return d.root.Link(name, to) })
}

// Remove removes the file or empty directory name.
func (d *Dir) Remove(name string) error {
	return d.seam.Do(d.op(fault.Remove, name, ""), func() error { return d.root.Remove(name) })
}

// RemoveAll removes name and everything below it; symlinks are not followed.
func (d *Dir) RemoveAll(name string) error {
	return d.seam.Do(d.op(fault.RemoveAll, name, ""), func() error { return d.root.RemoveAll(name) })
}

// Mkdir makes the directory name for the owner alone.
func (d *Dir) Mkdir(name string) error {
	return d.seam.Do(d.op(fault.Mkdir, name, ""), func() error { return d.root.Mkdir(name, 0o700) })
}

// Sync makes the directory's names durable. Windows keeps names durable by
// itself and has no such call; there it does nothing.
func (d *Dir) Sync() error {
	return d.seam.Do(d.op(fault.SyncDir, "", ""), d.syncNames)
}

// writer announces what it writes to a file that is written from its start.
type writer struct {
	dir  *Dir
	file *os.File
	name string
	off  int64
	sync bool  // it will be synced
	sent int64 // what the disk was asked to take, if so
}

// early is how much is worth to be brought to the disk while more is written.
const early = 1 << 20

func (w *writer) Write(p []byte) (int, error) {
	op := w.dir.op(fault.Write, w.name, "")
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
