package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// ErrNotRegular is returned for anything but a regular file.
var ErrNotRegular = errors.New("not a regular file")

// ErrLost is returned for a symlink that leads to nothing.
var ErrLost = errors.New("it is a symlink that leads nowhere")

// ErrOutside is returned for a session that is a symlink to another place.
var ErrOutside = errors.New("it is a symlink that leads out of the sessions directory: move the session itself there")

// Open opens the existing file name of root; flag is one of [os.O_RDONLY] and
// [os.O_RDWR], and may have [os.O_APPEND]. The error Is [ErrNotRegular], and names the
// kind, when it is no regular file.
func Open(root *os.Root, name string, flag int) (*os.File, fs.FileInfo, error) {
	f, err := openShared(func() (*os.File, error) {
		return openLeased(func() (*os.File, error) { return root.OpenFile(name, flag|syscall.O_NONBLOCK|LargeFile, 0) })
	})
	if err != nil {
		if fi, there := root.Stat(name); there == nil && !fi.Mode().IsRegular() { // sockets cannot be opened
			err = irregular(name, fi.Mode())
		}
		return nil, nil, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = irregular(name, fi.Mode())
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, fi, nil
}

// irregular returns the error for a file of that mode.
func irregular(path string, mode fs.FileMode) error {
	kind := "something else"
	switch {
	case mode.IsDir():
		kind = "a directory"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	}
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%w but %s", ErrNotRegular, kind)}
}

// NotRegular returns an error, which Is [ErrNotRegular], when path leads to something
// other than a regular file. It opens nothing.
func NotRegular(path string) error {
	fi, err := os.Stat(path)
	if err != nil || fi.Mode().IsRegular() {
		return nil
	}
	return irregular(path, fi.Mode())
}

// Reader is a sessions directory for reading files of many sessions. It makes nothing and
// takes no lock, and no path leads out of it. It is safe for concurrent use until it is
// closed.
type Reader struct {
	path string
	root *os.Root
	dir  *os.File // the same directory
}

// OpenReader opens the sessions directory path.
func OpenReader(path string) (*Reader, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	dir, err := root.Open(".")
	if err != nil {
		return nil, errors.Join(&fs.PathError{Op: "open", Path: path, Err: errors.Unwrap(err)}, root.Close())
	}
	return &Reader{path: path, root: root, dir: dir}, nil
}

// Path returns the path of the sessions directory, or of a session's directory
// in it, or of a file in that.
func (d *Reader) Path(parts ...string) string {
	path := d.path
	for _, p := range parts {
		path += string(filepath.Separator) + p
	}
	return path
}

// Close releases the directory.
func (d *Reader) Close() error { return errors.Join(d.dir.Close(), d.root.Close()) }

// Names returns the names of everything in the directory, in the order of their text. It
// can be called only once.
func (d *Reader) Names() ([]string, error) {
	names, err := d.dir.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// Open opens the file name of the session id for reading. The error Is
// [fs.ErrNotExist] when there is none, also when id is no directory.
func (d *Reader) Open(id, name string) (*File, error) {
	f, err := openFile(d.dir, id+"/"+name)
	if err != nil && !nowhere(err) {
		f, err = d.openByRoot(id, name)
	}
	if nowhere(err) {
		return nil, fs.ErrNotExist
	}
	return f, err
}

func (d *Reader) openByRoot(id, name string) (*File, error) {
	f, _, err := Open(d.root, filepath.Join(id, name), os.O_RDONLY)
	if err != nil {
		if real, ok := Inside(d.path, id); ok {
			f, _, err = Open(d.root, filepath.Join(real, name), os.O_RDONLY)
		}
	}
	if err != nil {
		return nil, err
	}
	return &File{file: f}, nil
}

// Has reports whether the file name of the session id exists, also as a symlink that
// leads nowhere, or whether that is not known.
func (d *Reader) Has(id, name string) bool { return has(d.dir, id+"/"+name) }

// Lost returns the reason why the symlink id leads to nothing, or why its target is not
// known. It returns nil for everything else.
func (d *Reader) Lost(id string) error {
	if _, _, err := statEntry(d.dir, id); err != nil {
		if _, plain, there := statIn(d.dir, id, nil); there == nil && !plain {
			return Lost(err)
		}
	}
	return nil
}

// nowhere reports whether a path leads to nothing.
func nowhere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Inside returns the path below the directory dir to which name in it leads, if it is
// another path: an [os.Root] refuses symlinks with an absolute path, wherever they lead.
// The caller opens the path by the root.
func Inside(dir, name string) (path string, ok bool) {
	real, err := filepath.EvalSymlinks(filepath.Join(dir, name))
	if err != nil {
		return "", false
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", false
	}
	path, err = filepath.Rel(dir, real)
	return path, err == nil && path != name && path != "." && filepath.IsLocal(path)
}
