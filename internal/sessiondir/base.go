package sessiondir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/fault"
)

// Bookkeeping is the directory in the sessions directory that holds what this
// library keeps for itself. No session may have its name.
const Bookkeeping = ".sessionstore"

// Base is a sessions directory.
type Base struct {
	path  string
	plain bool // no symlink is on the way there
	seam  *fault.Seam

	building sync.Map // paths of the sessions that this Base builds
	listing  atomic.Pointer[listing]

	mu  sync.Mutex      // guards what follows
	top *atomicfile.Dir // nil until first used and when the directory is gone
	is  fs.FileInfo     // of top
}

// Open opens the sessions directory path and makes it, and what leads to it,
// when it is not there. seam may be nil.
func Open(path string, seam *fault.Seam) (*Base, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := makeAll(abs, seam); err != nil {
		return nil, err
	}
	b := &Base{path: abs, plain: isPlain(abs), seam: seam}
	if _, err := b.open(); err != nil {
		return nil, err
	}
	return b, nil
}

// makeAll makes the directory path and what leads to it, for the owner alone,
// and makes their names durable.
func makeAll(path string, seam *fault.Seam) (err error) {
	fi, err := os.Stat(path)
	switch {
	case err == nil && !fi.IsDir():
		return &fs.PathError{Op: "open", Path: path, Err: errNotDirectory}
	case !errors.Is(err, fs.ErrNotExist) || filepath.Dir(path) == path:
		return err
	}
	if err := makeAll(filepath.Dir(path), seam); err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	parent := atomicfile.New(root, seam)
	defer func() { err = errors.Join(err, parent.Close()) }()
	if err := parent.Mkdir(filepath.Base(path)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return parent.Sync()
}

var errNotDirectory = errors.New("not a directory")

// Restore makes the sessions directory anew when it is gone.
func (b *Base) Restore() error { return makeAll(b.path, b.seam) }

// Path returns the absolute path of the sessions directory.
func (b *Base) Path() string { return b.path }

// Close releases the directory.
func (b *Base) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.top == nil {
		return nil
	}
	err := b.top.Close()
	b.top = nil
	return err
}

// open returns the directory that stands at the path now.
func (b *Base) open() (*atomicfile.Dir, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.top != nil && IsAt(b.is, b.path) {
		return b.top, nil
	}
	// Calls under way may still use the old one; its files are closed when
	// the last of them lets go of it.
	b.top = nil
	root, err := os.OpenRoot(b.path)
	if err != nil {
		return nil, err
	}
	if b.is, err = root.Stat("."); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	b.top = atomicfile.New(root, b.seam)
	return b.top, nil
}

// Dir opens the directory of session id. The error is [fs.ErrNotExist] when
// there is none, also when a file stands in its place.
func (b *Base) Dir(id string) (*Dir, error) {
	top, err := b.open()
	if err != nil {
		return nil, err
	}
	sub, err := top.Root().OpenRoot(id)
	if err != nil {
		if id == filepath.Base(id) && b.nowhere(id) {
			err = &fs.PathError{Op: "open", Path: id, Err: fs.ErrNotExist}
		}
		return nil, err
	}
	return b.dir(sub, id), nil
}

// nowhere reports whether id leads to nothing, or to a plain file.
func (b *Base) nowhere(id string) bool {
	fi, err := os.Stat(filepath.Join(b.path, id))
	return errors.Is(err, fs.ErrNotExist) || err == nil && fi.Mode().IsRegular()
}

func (b *Base) dir(root *os.Root, id string) *Dir {
	return &Dir{Dir: atomicfile.New(root, b.seam), path: filepath.Join(b.path, id), seam: b.seam}
}

// Sync makes the names of the session directories durable.
func (b *Base) Sync() error {
	top, err := b.open()
	if err != nil {
		return err
	}
	return top.Sync()
}

// Has reports whether id names a directory, directly or by a symlink.
func (b *Base) Has(id string) bool {
	fi, err := os.Stat(filepath.Join(b.path, id))
	return err == nil && fi.IsDir()
}

// IsAt reports whether path leads to the directory dir.
func IsAt(dir fs.FileInfo, path string) bool {
	fi, err := os.Stat(path)
	return err == nil && os.SameFile(dir, fi)
}
