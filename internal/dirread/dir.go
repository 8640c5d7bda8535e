package dirread

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Dir is a sessions directory out of which files of many sessions are read.
// It makes nothing and takes no lock, and nothing leads out of it. It is safe
// for concurrent use until it is closed.
type Dir struct {
	path string
	root *os.Root
	dir  *os.File // the same directory
}

// OpenDir opens the sessions directory path.
func OpenDir(path string) (*Dir, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	dir, err := root.Open(".")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &Dir{path: path, root: root, dir: dir}, nil
}

// Path returns the path of the sessions directory, or of a session's directory
// in it, or of a file in that.
func (d *Dir) Path(parts ...string) string {
	path := d.path
	for _, p := range parts {
		path += string(filepath.Separator) + p
	}
	return path
}

// Close releases the directory.
func (d *Dir) Close() error { return errors.Join(d.dir.Close(), d.root.Close()) }

// Names returns the names of everything in the directory, in the order of
// their text. It can be asked once.
func (d *Dir) Names() ([]string, error) {
	names, err := d.dir.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// Open opens the file name of the session id for reading. The error Is
// [fs.ErrNotExist] when there is none, also when id is no directory.
func (d *Dir) Open(id, name string) (*File, error) {
	f, err := openFile(d.dir, id+"/"+name)
	if err != nil && !nowhere(err) {
		f, err = d.openByRoot(id, name)
	}
	if nowhere(err) {
		return nil, fs.ErrNotExist
	}
	return f, err
}

func (d *Dir) openByRoot(id, name string) (*File, error) {
	f, _, err := Open(d.root, filepath.Join(id, name), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return &File{file: f}, nil
}

// Has reports whether the file name of the session id is there, a symlink that
// leads nowhere included, or whether that cannot be told.
func (d *Dir) Has(id, name string) bool { return has(d.dir, id+"/"+name) }

// nowhere reports whether a path leads to nothing.
func nowhere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
