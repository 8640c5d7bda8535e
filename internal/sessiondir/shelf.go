package sessiondir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Shelf is a sessions directory out of which files of many sessions are read.
// It makes nothing, takes no lock and is confined like a [Base]. It is safe
// for concurrent use until it is closed.
type Shelf struct {
	path string
	root *os.Root
	dir  *os.File // the same directory
}

// ErrNotRegular is the error for what is no plain file. It is not opened, as
// opening a pipe would wait for its writer.
var ErrNotRegular = errors.New("not a regular file")

// OpenShelf opens the sessions directory path.
func OpenShelf(path string) (*Shelf, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	dir, err := root.Open(".")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &Shelf{path: path, root: root, dir: dir}, nil
}

// Path returns the path of the sessions directory, or of a session's directory
// in it, or of a file in that.
func (s *Shelf) Path(parts ...string) string {
	path := s.path
	for _, p := range parts {
		path += string(filepath.Separator) + p
	}
	return path
}

// Close releases the directory.
func (s *Shelf) Close() error { return errors.Join(s.dir.Close(), s.root.Close()) }

// Names returns the names of everything in the directory, in the order of
// their text. It can be asked once.
func (s *Shelf) Names() ([]string, error) {
	names, err := s.dir.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// Open opens the file name of the session id for reading. The error Is
// [fs.ErrNotExist] when there is none, also when id is no directory.
func (s *Shelf) Open(id, name string) (*Leaf, error) {
	l, err := s.quickly(id, name)
	switch {
	case err == nil:
		return l, nil
	case nowhere(err):
		return nil, fs.ErrNotExist
	}
	fi, err := os.Stat(s.Path(id, name))
	if nowhere(err) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	f, err := s.root.Open(filepath.Join(id, name))
	if err != nil {
		return nil, err
	}
	return &Leaf{file: f}, nil
}

// nowhere reports whether a path leads to nothing.
func nowhere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
