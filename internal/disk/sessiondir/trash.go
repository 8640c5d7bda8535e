package sessiondir

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// Trash opens the directory [Trash], and makes it if it is missing.
func (b *Base) Trash() (*vfs.Dir, error) {
	top, err := b.open()
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

// Send moves the directory of session id, whole and at once, into the directory to, a
// path below the sessions directory, where it keeps its name. The error is
// [fs.ErrNotExist] when there is no such session and [fs.ErrExist] when to has something
// of that name; a symlink is refused. The session is at its new place after a power cut
// once [Base.Sync] has synced both directories.
func (b *Base) Send(id, to string) error {
	top, err := b.open()
	if err != nil {
		return err
	}
	if err := checkSession(top.Root(), id); err != nil {
		return err
	}
	return move(top, id, filepath.Join(to, id))
}

// Fetch moves a session back that Send moved away.
func (b *Base) Fetch(id, from string) error {
	top, err := b.open()
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

// deletedDir is the directory of the bookkeeping that holds sessions until their
// files are removed.
const deletedDir = "trash"

// Delete removes path, the directory of a session or another below the sessions
// directory, with its content. The directory vanishes at once and whole; if the process
// is killed, the next Delete removes the remains. With sync the directory does not come
// back after a power cut. The error is [fs.ErrNotExist] when there is none; a symlink is
// refused.
func (b *Base) Delete(path string, sync bool) error {
	top, err := b.open()
	if err != nil {
		return err
	}
	if err := checkSession(top.Root(), path); err != nil {
		return err
	}
	in := filepath.Join(Bookkeeping, deletedDir)
	if err := top.MkdirAll(in); err != nil {
		return err
	}
	if err := top.Rename(path, filepath.Join(in, rand.Text())); err != nil {
		return err
	}
	if sync {
		if err := syncBelow(top, filepath.Dir(path)); err != nil {
			return err
		}
	}
	names, _ := top.NamesIn(in)
	for _, left := range names {
		_ = top.RemoveAll(filepath.Join(in, left)) // the session is gone; files that stay are tried again next time
	}
	return nil
}

// checkSession returns the reason why path is no session's directory. The error is
// [fs.ErrNotExist] when path does not exist or is a file.
func checkSession(root *os.Root, path string) error {
	fi, err := root.Lstat(path)
	switch {
	case err != nil:
		return err
	case fi.Mode()&fs.ModeSymlink != 0:
		return &fs.PathError{Op: "remove", Path: path, Err: errSymlink}
	case !fi.IsDir():
		return &fs.PathError{Op: "remove", Path: path, Err: fs.ErrNotExist}
	}
	return nil
}
