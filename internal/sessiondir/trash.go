package sessiondir

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
)

// Trash is the directory in the sessions directory for sessions that were
// removed and can be brought back. Its name begins with a dot, so that no tool
// lists it; no session may have it. Unlike [Bookkeeping] it may not be lost.
const Trash = ".trash"

// Trash opens the directory [Trash], and makes it when it is not there.
func (b *Base) Trash() (*atomicfile.Dir, error) {
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

// Send moves the directory of session id, whole and at once, into the
// directory to, a path below the sessions directory, where it keeps its name.
// The error is [fs.ErrNotExist] when there is no such session and
// [fs.ErrExist] when to has something of that name; a symlink is refused. It is
// there after a power cut once both directories were synced by [Base.SyncAt].
func (b *Base) Send(id, to string) error {
	top, err := b.open()
	if err != nil {
		return err
	}
	if err := removable(top.Root(), id); err != nil {
		return err
	}
	return b.carry(top, id, filepath.Join(to, id))
}

// Fetch moves what Send moved back.
func (b *Base) Fetch(id, from string) error {
	top, err := b.open()
	if err != nil {
		return err
	}
	path := filepath.Join(from, id)
	if err := removable(top.Root(), path); err != nil {
		return err
	}
	return b.carry(top, path, id)
}

// carry renames a directory whose new name must be free.
func (b *Base) carry(top *atomicfile.Dir, from, to string) error {
	_, err := top.Root().Lstat(to)
	switch {
	case err == nil:
		return &fs.PathError{Op: "move", Path: to, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return top.Rename(from, to)
}

// SyncAt makes the names in directories durable, one after the other. They are
// paths below the sessions directory, which itself is ".".
func (b *Base) SyncAt(paths ...string) error {
	top, err := b.open()
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

func syncBelow(top *atomicfile.Dir, path string) error {
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
func below(dir *atomicfile.Dir, path string) (*atomicfile.Dir, error) {
	root, err := dir.Root().OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return dir.At(root), nil
}

// Destroy removes path, a directory below the sessions directory, with all
// that is in it, as Discard does: it vanishes at once and whole.
func (b *Base) Destroy(path string, sync bool) error {
	top, err := b.open()
	if err != nil {
		return err
	}
	if err := removable(top.Root(), path); err != nil {
		return err
	}
	bin, err := b.keep(doomed)
	if err != nil {
		return err
	}
	if err := top.Rename(path, filepath.Join(bin, rand.Text())); err != nil {
		return err
	}
	if sync {
		if err := syncBelow(top, filepath.Dir(path)); err != nil {
			return err
		}
	}
	for _, left := range names(top.Root(), bin) {
		_ = top.RemoveAll(filepath.Join(bin, left)) // it is gone; what stays is tried again next time
	}
	return nil
}

// removable tells why what stands at path may not be removed as a session.
func removable(root *os.Root, path string) error {
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
