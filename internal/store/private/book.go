package private

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// Folder is the directory of a bookkeeping that the files of a [Book] are in.
const Folder = "sync"

// Files are the files of the bookkeeping of a sessions directory.
type Files interface {
	// Read returns the content of a file.
	Read(name string) ([]byte, error)

	// Write replaces a file at once. It is durable when Write returns.
	Write(name string, content []byte) error

	// Stat returns what the system says of files; nil for a missing one.
	Stat(names ...string) ([]os.FileInfo, error)

	// Names returns the names of all files, in any order.
	Names() ([]string, error)

	// Alone runs do while no other process is in an Alone of the directory.
	Alone(do func() error) error
}

// Book is what a sessions directory remembers of what may leave. Its methods may be called
// by many goroutines, and many processes may have a Book of one directory.
type Book struct {
	files    Files
	dir      string // the sessions directory
	rules    rulesCache
	changing sync.Mutex // held while the list of local-only sessions is changed
	taking   sync.Mutex // guards taken
	taken    bool       // what earlier programs remembered is taken over
}

// NewBook returns the book of the sessions directory dir in its bookkeeping.
func NewBook(dir string, files Files) *Book { return &Book{files: files, dir: dir} }

// Remembers reports whether the sessions directory dir may remember rules: in doubt, as where a
// symlink leads to nothing, it does.
func Remembers(dir string) bool {
	for _, name := range []string{sessiondir.Bookkeeping, Folder} {
		dir = filepath.Join(dir, name)
		_, missing := os.Lstat(dir)
		if _, err := os.Stat(dir); err != nil {
			return !errors.Is(missing, fs.ErrNotExist)
		}
	}
	return true
}

// version is the version of the form of each file.
const version = 1

// settleTime is the time after which an unchanged stat hides no change, however coarse or
// wrong the clocks are.
const settleTime = 2 * time.Second

// Opened are the files of the directory that the function opens.
type Opened func() (*vfs.Dir, error)

// With runs do in the directory.
func (open Opened) With(do func(*vfs.Dir) error) error {
	dir, err := open()
	if err != nil {
		return fmt.Errorf("open sync state: %w", err)
	}
	return errors.Join(do(dir), dir.Close())
}

// Read implements [Files].
func (open Opened) Read(name string) (content []byte, err error) {
	err = open.With(func(dir *vfs.Dir) (err error) {
		content, err = dir.Root().ReadFile(name)
		return err
	})
	return content, err
}

// Write implements [Files]. A directory that has the name of the file is moved aside.
func (open Opened) Write(name string, content []byte) error {
	write := func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}
	return open.With(func(dir *vfs.Dir) error {
		err := dir.Replace(name, true, time.Now(), write)
		if fi, no := dir.Root().Lstat(name); err != nil && no == nil && fi.IsDir() {
			if err = dir.Rename(name, name+time.Now().UTC().Format(".20060102T150405.000000000")+".damaged"); err == nil {
				err = dir.Replace(name, true, time.Now(), write)
			}
		}
		if err == nil {
			err = dir.Sync()
		}
		return err
	})
}

// Stat implements [Files].
func (open Opened) Stat(names ...string) ([]os.FileInfo, error) {
	found := make([]os.FileInfo, len(names))
	err := open.With(func(dir *vfs.Dir) error {
		for i, name := range names {
			fi, err := dir.Root().Stat(name)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			found[i] = fi
		}
		return nil
	})
	return found, err
}

// lockFile is the file whose lock Alone holds.
const lockFile = "rules.lock"

// Alone implements [Files]. Where the file system has no locks, other processes are not
// kept out.
func (open Opened) Alone(do func() error) error {
	return open.With(func(dir *vfs.Dir) error {
		held, err := lock.Acquire(context.Background(), dir.Root(), lockFile, lock.Options{})
		if errors.Is(err, errors.ErrUnsupported) {
			return do()
		}
		if err != nil {
			return err
		}
		return errors.Join(do(), held.Unlock())
	})
}

// Names implements [Files].
func (open Opened) Names() (names []string, err error) {
	err = open.With(func(dir *vfs.Dir) (err error) {
		names, err = dir.NamesIn(".")
		return err
	})
	return names, err
}
