package sessiondir

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// Base is a sessions directory.
type Base struct {
	// Alone promises that no other process takes the locks of sessions; see
	// [lock.Options]. It is set before first use.
	Alone bool

	path string
	seam *seam.Seam

	noExchange atomic.Bool // the file system has no exchange of names

	*vfs.Sessions // of the same path

	queue  *lock.Queue // of the waiters for locks
	staged sync.Map    // paths of the staging directories that are in use here

	mu    sync.Mutex  // guards the fields below
	top   *vfs.Dir    // nil until first used and when the directory is gone
	is    fs.FileInfo // of top
	ready []*Dir      // open for the next write, the one used last at the end
}

// Open opens the sessions directory path and makes it, with its parents, if it is
// missing. hooks may be nil.
func Open(path string, hooks *seam.Seam) (*Base, error) {
	abs, err := Abs(path)
	if err != nil {
		return nil, err
	}
	if err := MakeAll(abs, hooks); err != nil {
		return nil, err
	}
	b := &Base{path: abs, seam: hooks}
	b.Sessions = vfs.NewSessions(abs, hooks, b.handle)
	b.queue = lock.NewQueue(filepath.Join(abs, Bookkeeping, ticketFile), b.openTickets)
	if _, err := b.open(); err != nil {
		return nil, err
	}
	return b, nil
}

// MakeAll makes the directory path and its parents, for the owner alone, and makes their
// names durable.
func MakeAll(path string, hooks *seam.Seam) (err error) {
	fi, err := os.Stat(path)
	switch {
	case err == nil && !fi.IsDir():
		return &fs.PathError{Op: "open", Path: path, Err: errNotDirectory}
	case !errors.Is(err, fs.ErrNotExist) || filepath.Dir(path) == path:
		return err
	}
	if fi, err := os.Lstat(path); err == nil && fi.Mode()&fs.ModeSymlink != 0 {
		return &fs.PathError{Op: "open", Path: path, Err: vfs.ErrLost}
	}
	if err := MakeAll(filepath.Dir(path), hooks); err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	parent := vfs.New(root, hooks)
	defer func() { err = errors.Join(err, parent.Close()) }()
	if err := parent.Mkdir(filepath.Base(path)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return parent.Sync()
}

// Restore makes the sessions directory anew if it is gone.
func (b *Base) Restore() error { return MakeAll(b.path, b.seam) }

// Path returns the absolute path of the sessions directory.
func (b *Base) Path() string { return b.path }

// Close releases the directory.
func (b *Base) Close() error {
	err := b.queue.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, d := range b.ready {
		err = errors.Join(err, d.Close())
	}
	b.ready = nil
	if b.top == nil {
		return err
	}
	err = errors.Join(err, b.top.Close())
	b.top = nil
	return err
}

// open returns the directory that has the path now.
func (b *Base) open() (*vfs.Dir, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.top != nil && IsAt(b.is, b.path) {
		return b.top, nil
	}
	// Calls under way may still use the old directory; its files are closed when no call
	// refers to them any more.
	b.top = nil
	root, err := os.OpenRoot(b.path)
	if err != nil {
		return nil, err
	}
	if b.is, err = root.Stat("."); err != nil {
		return nil, errors.Join(&fs.PathError{Op: "open", Path: b.path, Err: errors.Unwrap(err)}, root.Close())
	}
	b.top = vfs.New(root, b.seam)
	return b.top, nil
}

// Dir opens the directory of session id. The error is [fs.ErrNotExist] when there is
// none, also when a file has the name.
func (b *Base) Dir(id string) (*Dir, error) {
	top, err := b.open()
	if err != nil {
		return nil, err
	}
	if fi, err := top.Root().Stat(id); err == nil && !fi.IsDir() { // opening a pipe waits
		return nil, &fs.PathError{Op: "open", Path: id, Err: fs.ErrNotExist}
	}
	sub, err := top.Root().OpenRoot(id)
	if err != nil {
		if real, ok := vfs.Inside(b.path, id); ok {
			sub, err = top.Root().OpenRoot(real)
		}
	}
	if err != nil {
		if id == filepath.Base(id) && b.nowhere(id) {
			err = &fs.PathError{Op: "open", Path: id, Err: fs.ErrNotExist}
		} else if fi, lost := top.Root().Lstat(id); lost == nil && fi.Mode()&fs.ModeSymlink != 0 && !errors.Is(err, fs.ErrPermission) {
			err = &fs.PathError{Op: "open", Path: filepath.Join(b.path, id), Err: vfs.ErrOutside}
		}
		return nil, err
	}
	return b.dir(sub, id), nil
}

// nowhere reports whether id does not exist, leads to nothing, or is a plain file.
func (b *Base) nowhere(id string) bool {
	fi, err := os.Stat(filepath.Join(b.path, id))
	return errors.Is(err, fs.ErrNotExist) || err == nil && fi.Mode().IsRegular()
}

func (b *Base) dir(root *os.Root, id string) *Dir {
	return &Dir{Dir: vfs.New(root, b.seam), path: filepath.Join(b.path, id), noExchange: &b.noExchange, emptied: emptied{b.open, id}}
}

// Sync makes the names in directories durable, one after the other. They are paths below
// the sessions directory; without paths Sync syncs the sessions directory itself.
func (b *Base) Sync(paths ...string) error {
	top, err := b.open()
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return top.Sync()
	}
	for _, path := range paths {
		if err := syncBelow(top, path); err != nil {
			return err
		}
	}
	return nil
}

// Has reports whether id names a directory, directly or by a symlink.
func (b *Base) Has(id string) bool {
	has, _ := b.Find(id) // an error counts as missing
	return has
}

// Find is [Base.Has] with the reason why the answer is not known.
func (b *Base) Find(id string) (bool, error) {
	fi, err := os.Stat(filepath.Join(b.path, id))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) {
		return false, nil
	}
	return err == nil && fi.IsDir(), err
}

// IsAt reports whether path leads to the directory dir.
func IsAt(dir fs.FileInfo, path string) bool {
	fi, err := os.Stat(path)
	return err == nil && os.SameFile(dir, fi)
}

// ticketFile is the file, in the bookkeeping, of the lines in which writers
// wait for locks.
const ticketFile = "tickets"

func (b *Base) openTickets() (*os.File, error) {
	top, err := b.open()
	if err != nil {
		return nil, err
	}
	const flags = os.O_RDWR | os.O_CREATE
	path := filepath.Join(Bookkeeping, ticketFile)
	file, err := top.Root().OpenFile(path, flags, vfs.Mode)
	if errors.Is(err, fs.ErrNotExist) {
		if err := top.Mkdir(Bookkeeping); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		file, err = top.Root().OpenFile(path, flags, vfs.Mode)
	}
	if err == nil {
		_ = vfs.Own(top.Root(), path) // waiting needs no line
	}
	return file, err
}

// handle returns the sessions directory that has the path now, open.
func (b *Base) handle() (*os.File, error) {
	top, err := b.open()
	if err != nil {
		return nil, err
	}
	return top.Handle()
}

// AmplifierHome returns $AMPLIFIER_HOME or ~/.amplifier, which need not exist.
func AmplifierHome() (string, error) {
	home := os.Getenv("AMPLIFIER_HOME")
	if home == "" {
		home = "~/.amplifier"
	}
	return Abs(home)
}

// Abs returns path as an absolute path. A first element ~ is the user's home directory, as
// the Python tools read it; "./~" is a file of that name.
func Abs(path string) (string, error) {
	if path == "~" || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, `~\`) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		path = filepath.Join(home, path[1:])
	}
	return filepath.Abs(path)
}

// Entry is the directory of a session as a listing finds it.
type Entry = vfs.Entry

// Settled reports whether a change of the file after the stamp s was taken, at
// the time at, is sure to show in a later stamp; see [vfs.Settled].
func (b *Base) Settled(s Stamp, at time.Time) bool { return vfs.Settled(b.seam, s, at) }

// Bookkeeping is the directory in the sessions directory for the files that this library
// keeps for itself. No session may have its name.
const Bookkeeping = ".sessionstore"

var errNotDirectory = errors.New("not a directory")

func syncBelow(dir *vfs.Dir, path string) error {
	if path == "." {
		return dir.Sync()
	}
	in, err := dir.Below(path)
	if err != nil {
		return err
	}
	return errors.Join(in.Sync(), in.Close())
}

// Trash is the directory in the sessions directory for sessions that were
// removed and can be brought back. Its name begins with a dot, so that no tool
// lists it; no session may have it. Unlike the bookkeeping it may not be lost.
const Trash = ".trash"

var errSymlink = errors.New("it is a symlink")

const (
	maxName = 255
	lockExt = ".metadata.lock"
)

// lockName returns the lock file of session id, beside the session. It is the name that
// the newer Python tools use; an id too long for it, which they cannot write, has its
// lock in the directory dir of the bookkeeping.
func lockName(id string) (dir, name string) {
	name = "." + id + lockExt
	if len(name) <= maxName {
		return "", name
	}
	sum := sha256.Sum256([]byte(id))
	return "locks", hex.EncodeToString(sum[:]) + ".lock"
}

// Lock takes the lock of session id, which excludes every other writer that
// honours it, in this process or another. It waits in line. While the line does
// not move, it waits up to 10 s; then the error is [lock.ErrBusy].
func (b *Base) Lock(ctx context.Context, id string) (held *lock.Lock, err error) {
	in, err := b.open()
	if err != nil {
		return nil, err
	}
	dir, name := lockName(id)
	if dir != "" {
		dir = filepath.Join(Bookkeeping, dir)
		if err := in.MkdirAll(dir); err != nil {
			return nil, err
		}
		if in, err = in.Below(dir); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, in.Close()) }()
	}
	self, err := in.Handle()
	if err != nil {
		return nil, err
	}
	err = b.queue.Line("session "+id).Wait(ctx, func() (err error) {
		held, err = lock.Options{In: self, Alone: b.Alone}.Try(in.Root(), name)
		return err
	})
	return held, err
}

// OwnershipLine returns the line of the waiters for the ownership lock of session id,
// which is not in the sessions directory.
func (b *Base) OwnershipLine(id string) lock.Line { return b.queue.Line("owner " + id) }

// Free reports whether no writer holds the lock of session id now. It makes no lock file.
func (b *Base) Free(id string) bool {
	top, err := b.open()
	if err != nil {
		return false
	}
	root := top.Root()
	dir, name := lockName(id)
	if dir != "" {
		dir = filepath.Join(Bookkeeping, dir)
	}
	if _, err := root.Lstat(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if dir != "" {
		sub, err := root.OpenRoot(dir)
		if err != nil {
			return false
		}
		defer sub.Close()
		root = sub
	}
	lock, err := lock.Options{Alone: b.Alone}.Try(root, name)
	if err != nil {
		return errors.Is(err, errors.ErrUnsupported)
	}
	return lock.Unlock() == nil
}
