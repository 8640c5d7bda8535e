package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
)

// Mode is the permission of every file that is made: for the owner alone.
const Mode fs.FileMode = 0o600

// Dir is an open directory. Names given to its methods are base names, and
// symlinks among them are never followed out of it.
type Dir struct {
	root *os.Root
	seam *seam.Seam

	mu   sync.Mutex // guards self
	self *os.File   // the directory itself; opened when first needed
}

// New returns the directory that root confines; seam may be nil.
func New(root *os.Root, seam *seam.Seam) *Dir {
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
	f, err := d.root.OpenFile(".", os.O_RDONLY|syscall.O_NONBLOCK, 0) // else the runtime tries to wait for it
	if err == nil {
		d.self = f
	}
	return f, err
}

// Root returns the root for reading. Changes of the disk go through Dir.
func (d *Dir) Root() *os.Root { return d.root }

func (d *Dir) op(kind seam.Kind, name, to string) seam.Op {
	return seam.Op{Kind: kind, Dir: d.root.Name(), Name: name, To: to}
}

// change performs op with do, and waits while another program has the file of op open.
func (d *Dir) change(op seam.Op, do func() error) error {
	return WhenFree(func() error { return d.seam.Do(op, do) })
}

// Stamp identifies a file and its state. Two equal stamps mean the same content, unless
// the file changed twice within one step of the file system's clock.
type Stamp struct {
	Dev, Inode   uint64 // zero where the system does not report them
	Size         int64
	Mtime, Ctime time.Time // of the content, of the inode
}

// StampOf returns the stamp in fi. hooks may be nil.
func StampOf(fi fs.FileInfo, hooks *seam.Seam) Stamp {
	dev, inode, ctime := identify(fi)
	return Stamp{
		Dev: dev, Inode: inode, Size: fi.Size(),
		Mtime: hooks.Round(fi.ModTime()), Ctime: hooks.Round(ctime),
	}
}

// StampIn returns the stamp in fi, of a file of the directory.
func (d *Dir) StampIn(fi fs.FileInfo) Stamp { return StampOf(fi, d.seam) }

// StampOf returns the stamp of an open file.
func (d *Dir) StampOf(f *os.File) (Stamp, error) {
	fi, err := f.Stat()
	if err != nil {
		return Stamp{}, err
	}
	return d.StampIn(fi), nil
}

// lstat is [Dir.Stat] by way of the root.
func (d *Dir) lstat(name string) (Stamp, error) {
	fi, err := d.root.Lstat(name)
	if err != nil {
		return Stamp{}, err
	}
	return d.StampIn(fi), nil
}

// rounded returns the stamp as a coarser clock of the file system gives it.
func (s Stamp) rounded(hooks *seam.Seam) Stamp {
	s.Mtime, s.Ctime = hooks.Round(s.Mtime), hooks.Round(s.Ctime)
	return s
}

// Same reports whether two stamps are of one unchanged file.
func (s Stamp) Same(t Stamp) bool {
	return s.SameContent(t) && s.Ctime.Equal(t.Ctime)
}

// SameContent reports whether two stamps are of one file that was not written in between;
// its names may have changed.
func (s Stamp) SameContent(t Stamp) bool {
	return s.Dev == t.Dev && s.Inode == t.Inode && s.Size == t.Size && s.Mtime.Equal(t.Mtime)
}

// SameFile reports whether two stamps are of one file, whatever its content, on systems
// that report the inode.
func (s Stamp) SameFile(t Stamp) bool { return s.Inode != 0 && s.Inode == t.Inode && s.Dev == t.Dev }

// The steps of the clocks by which file systems time changes: of file systems that keep
// parts of seconds, and of the coarsest.
const (
	fineStep   = 20 * time.Millisecond
	coarseStep = 2 * time.Second
)

// Settled reports whether a change of the file after the stamp s was taken, at the time
// at, is sure to show in a later stamp. Settled returns false when the file had changed
// within the same step of the file system's clock. Kernels that time changes more finely
// do so for one inode only: a file that is removed and made anew may look the same. hooks
// may be nil.
func Settled(hooks *seam.Seam, s Stamp, at time.Time) bool {
	step := coarseStep
	switch {
	case hooks != nil && hooks.Clock > 0:
		step = hooks.Clock
	case s.Mtime.Nanosecond() != 0 || s.Ctime.Nanosecond() != 0:
		step = fineStep
	}
	last := s.Mtime
	if s.Ctime.After(last) {
		last = s.Ctime
	}
	return at.Sub(last) > step
}

// Settled is the function [Settled] for a file of the directory.
func (d *Dir) Settled(s Stamp, at time.Time) bool { return Settled(d.seam, s, at) }

// Rename gives the file name the name to, and replaces a file of that name.
func (d *Dir) Rename(name, to string) error {
	return d.change(d.op(seam.Rename, name, to), func() error { return d.root.Rename(name, to) })
}

// Link gives the file name the second name to, which must be free.
func (d *Dir) Link(name, to string) error {
	return d.change(d.op(seam.Link, name, to), func() error { return d.root.Link(name, to) })
}

// Remove removes the file or empty directory name.
func (d *Dir) Remove(name string) error {
	return d.change(d.op(seam.Remove, name, ""), func() error { return d.root.Remove(name) })
}

// RemoveAll removes name and everything below it; symlinks are not followed.
func (d *Dir) RemoveAll(name string) error {
	return d.change(d.op(seam.RemoveAll, name, ""), func() error { return d.root.RemoveAll(name) })
}

// Mkdir makes the directory name for the owner alone.
func (d *Dir) Mkdir(name string) error {
	return d.seam.Do(d.op(seam.Mkdir, name, ""), func() error {
		if err := d.root.Mkdir(name, 0o700); err != nil {
			return err
		}
		if err := Own(d.root, name); err != nil {
			return errors.Join(err, d.root.Remove(name))
		}
		return nil
	})
}

// owned ends the making of the file f, which may have failed: see [Own]. After an error,
// f is closed and the file is removed.
func (d *Dir) owned(name string, f *os.File, err error) error {
	if err != nil {
		return err
	}
	if err = Own(d.root, name); err != nil {
		err = errors.Join(err, f.Close(), d.root.Remove(name))
	}
	return err
}

// MkdirAll makes the directory path and its parents, for the owner alone, if they are
// missing.
func (d *Dir) MkdirAll(path string) error {
	if parent := filepath.Dir(path); parent != "." {
		if err := d.MkdirAll(parent); err != nil {
			return err
		}
	}
	if err := d.Mkdir(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// Below opens the directory path below d. What is not a directory is an error: to open a pipe
// would wait for its other end.
func (d *Dir) Below(path string) (*Dir, error) {
	if fi, err := d.root.Stat(path); err == nil && !fi.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	root, err := d.root.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return d.At(root), nil
}

// NamesIn returns the names in the directory path, in its order. With an error it returns
// the names that could be read.
func (d *Dir) NamesIn(path string) ([]string, error) {
	f, err := d.root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // to open a pipe would wait
	if err != nil {
		return nil, err
	}
	all, err := f.Readdirnames(-1)
	_ = f.Close() // only read
	return all, err
}

// Sync makes the directory's names durable. Windows keeps names durable by
// itself and has no such call; there it does nothing.
func (d *Dir) Sync() error {
	return d.seam.Do(d.op(seam.SyncDir, "", ""), d.syncNames)
}

// Now returns the present time, or a time just after after, if that is later. The clock
// of a file system, which is coarser, hardly ever gives that time to another change.
func Now(after time.Time) time.Time {
	now := time.Now()
	if !now.After(after) {
		return after.Add(time.Microsecond)
	}
	return now
}

// SetTime sets the time of the last change of the file name.
func (d *Dir) SetTime(name string, at time.Time) error {
	op := d.op(seam.Chtimes, name, "")
	op.Time = at
	return d.change(op, func() error { return d.setTime(name, at) })
}

// Exchange swaps the names of the files a and b, at once: at every instant each name
// belongs to one of them. The error Is [errors.ErrUnsupported] where the system or the
// file system has no such call. When it fails, nothing has changed.
func (d *Dir) Exchange(a, b string) error {
	err := d.seam.Do(d.op(seam.Exchange, a, b), func() error { return d.rename(a, b, exchanging) })
	if err != nil {
		return known(err)
	}
	return nil
}

// known returns err, the outcome of a call with a flag that some file systems do not know.
func known(err error) error {
	if errors.Is(err, syscall.EINVAL) {
		return errors.ErrUnsupported
	}
	return err
}

// OfSystem reports whether name belongs to a directory that file systems, network storage
// and Windows make by themselves. It is never a session or a project.
func OfSystem(name string) bool {
	switch name {
	case "lost+found", "@eaDir", "@Recycle", "#recycle", "#snapshot", "$RECYCLE.BIN", "System Volume Information":
		return true
	}
	return false
}

// ErrOvertaken is returned when another writer, which honours no lock, changed a file
// before it could be replaced.
var ErrOvertaken = errors.New("another writer changed the file")

// SharingLimit is the longest wait of [WhenFree]: as long as writers wait for a lock.
const SharingLimit = 10 * time.Second

// deniedLimit is the longest wait of [openShared] where the system only reports that
// access is denied. The reason may be a file which is about to vanish, or lacking
// permissions, which no wait changes.
const deniedLimit = time.Second

const (
	firstPause   = time.Millisecond      // the first pause between two tries
	longestPause = 20 * time.Millisecond // each pause is twice as long as the last, up to this
)

// WhenFree calls do, which renames, removes or changes a file, again and again while
// another program has the file open. After [SharingLimit] it gives up, and the error
// Is [ErrInUse].
func WhenFree(do func() error) error {
	err := do()
	if err == nil {
		return nil
	}
	return tryAgain(err, do, func(err error) time.Duration {
		if inUse(err) || denied(err) {
			return SharingLimit
		}
		return 0
	})
}

// openShared is [WhenFree] for a function that opens an existing file and returns it.
func openShared[T any](open func() (T, error)) (file T, err error) {
	if file, err = open(); err == nil {
		return file, nil
	}
	err = tryAgain(err, func() (err error) { file, err = open(); return err }, func(err error) time.Duration {
		switch {
		case inUse(err):
			return SharingLimit
		case denied(err):
			return deniedLimit
		}
		return 0
	})
	return file, err
}

// tryAgain calls do, which failed with err, until it succeeds, its error has no limit, or
// the limit has passed.
func tryAgain(err error, do func() error, limit func(error) time.Duration) error {
	start, pause := time.Time{}, firstPause
	for {
		most := limit(err)
		if most == 0 {
			return err
		}
		if start.IsZero() {
			start = time.Now()
		}
		left := most - time.Since(start)
		if left <= 0 {
			break
		}
		time.Sleep(min(pause, left))
		pause = min(2*pause, longestPause)
		err = do()
	}
	if errors.Is(err, ErrInUse) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrInUse, err)
}

const (
	firstLeasePause   = 100 * time.Microsecond // the first pause between two attempts
	longestLeasePause = 5 * time.Millisecond   // each pause is twice as long as the last, up to this
	leasePatience     = 50 * time.Second       // longer than the kernel leaves a lease to its holder
)

// openLeased returns what open returns, and calls it again for as long as a lease on the
// file or a signal makes it fail. After 50 seconds it gives up, with an error that Is
// [syscall.EAGAIN].
func openLeased[T any](open func() (T, error)) (T, error) {
	file, err := open()
	if err == nil || !passes(err) {
		return file, err
	}
	pause, end := firstLeasePause, time.Now().Add(leasePatience)
	for passes(err) {
		if errors.Is(err, syscall.EAGAIN) {
			if !time.Now().Before(end) {
				return file, fmt.Errorf("wait %v for another program to give up its lease on the file: %w", leasePatience, err)
			}
			time.Sleep(pause)
			pause = min(2*pause, longestLeasePause)
		}
		file, err = open()
	}
	return file, err
}

// passes reports whether the same open may succeed a moment later.
func passes(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR)
}

// Cause returns err without the operation and the path that a *fs.PathError repeats, unless it
// Is [ErrInUse], which is around the path.
func Cause(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) && !errors.Is(err, ErrInUse) {
		return pe.Err
	}
	return err
}

// ErrInUse is returned when another program has the file open and does not share it.
var ErrInUse = errors.New("another program has the file open, and keeps others from it; close it there and try again")

// WithFd calls do with the descriptor of f and returns its error. It keeps f alive until
// do returns: a file without references is closed by the garbage collector, and its
// number may be another file's at once.
func WithFd(f *os.File, do func(fd int) error) error {
	err := do(int(f.Fd()))
	runtime.KeepAlive(f)
	return err
}

// OnFd is [WithFd], and calls do again when a signal interrupted it.
func OnFd(f *os.File, do func(fd int) error) error {
	return WithFd(f, func(fd int) error {
		for {
			if err := do(fd); !errors.Is(err, syscall.EINTR) {
				return err
			}
		}
	})
}

// Lease is the state of a write lease.
type Lease uint8

const (
	LeaseHeld    Lease = iota
	ReaderWaits        // a program waits to open the file for reading
	WriterWaits        // a program waits to open the file for writing, or the lease has expired
	LeaseUnknown       // the system does not report it
)

// The errors of [Dir.Lease].
var (
	ErrOpen    = errors.New("another program has the file open")
	ErrNoLease = errors.New("the file system has no leases")
)

// Lease takes a write lease on f, the open file name. Nothing on the disk changes, but
// other programs that open the file wait until [Dir.Release].
func (d *Dir) Lease(name string, f *os.File) error {
	return d.seam.Do(d.op(seam.Lease, name, ""), func() error { return takeLease(f) })
}

// Release gives the lease on f, the open file name, up. A seam cannot refuse it.
func (d *Dir) Release(name string, f *os.File) {
	if err := d.seam.Do(d.op(seam.Release, name, ""), func() error { dropLease(f); return nil }); err != nil {
		dropLease(f)
	}
}
