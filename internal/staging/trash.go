package staging

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/vfs"
)

// Trash is the directory in the sessions directory for sessions that were
// removed and can be brought back. Its name begins with a dot, so that no tool
// lists it; no session may have it. Unlike the bookkeeping it may not be lost.
const Trash = ".trash"

// Trash opens the directory [Trash], and makes it when it is not there.
func (s *Staging) Trash() (*vfs.Dir, error) {
	top, err := s.open()
	if err != nil {
		return nil, err
	}
	switch err := top.Mkdir(Trash); {
	case err == nil:
		if err := top.Sync(); err != nil {
			return nil, err
		}
	case !errors.Is(err, fs.ErrExist):
		return nil, err
	}
	return below(top, Trash)
}

// Send moves the directory of session id, whole and at once, into the
// directory to, a path below the sessions directory, where it keeps its name.
// The error is [fs.ErrNotExist] when there is no such session and
// [fs.ErrExist] when to has something of that name; a symlink is refused. The
// session is at its new place after a power cut once [Staging.Sync] has synced
// both directories.
func (s *Staging) Send(id, to string) error {
	top, err := s.open()
	if err != nil {
		return err
	}
	if err := checkSession(top.Root(), id); err != nil {
		return err
	}
	return move(top, id, filepath.Join(to, id))
}

// Fetch moves what Send moved back.
func (s *Staging) Fetch(id, from string) error {
	top, err := s.open()
	if err != nil {
		return err
	}
	path := filepath.Join(from, id)
	if err := checkSession(top.Root(), path); err != nil {
		return err
	}
	return move(top, path, id)
}

// move renames a directory whose new name must be free.
func move(top *vfs.Dir, from, to string) error {
	_, err := top.Root().Lstat(to)
	switch {
	case err == nil:
		return &fs.PathError{Op: "move", Path: to, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return top.Rename(from, to)
}

// Sync makes the names in directories durable, one after the other. They are
// paths below the sessions directory, which itself is ".".
func (s *Staging) Sync(paths ...string) error {
	top, err := s.open()
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := syncBelow(top, path); err != nil {
			return err
		}
	}
	return nil
}

func syncBelow(top *vfs.Dir, path string) error {
	if path == "." {
		return top.Sync()
	}
	dir, err := below(top, path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// below opens a directory below dir.
func below(dir *vfs.Dir, path string) (*vfs.Dir, error) {
	root, err := dir.Root().OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return dir.At(root), nil
}
