package sessiondir

import (
	"crypto/rand"
	"io/fs"
	"os"
	"path/filepath"
)

// Discard removes the directory of session id with all that is in it. It
// vanishes at once and whole; what a killed process leaves of it is removed
// by the next Discard. The error is [fs.ErrNotExist] when there is none; a
// symlink is refused.
func (b *Base) Discard(id string, sync bool) error {
	top, err := b.open()
	if err != nil {
		return err
	}
	if err := removable(top.Root(), id); err != nil {
		return err
	}
	bin, err := b.keep(trash)
	if err != nil {
		return err
	}
	if err := top.Rename(id, filepath.Join(bin, rand.Text())); err != nil {
		return err
	}
	if sync {
		if err := top.Sync(); err != nil {
			return err
		}
	}
	for _, left := range names(top.Root(), bin) {
		_ = top.RemoveAll(filepath.Join(bin, left)) // the session is gone; what stays is tried again next time
	}
	return nil
}

// removable tells why what stands at id may not be removed as a session.
func removable(root *os.Root, id string) error {
	fi, err := root.Lstat(id)
	switch {
	case err != nil:
		return err
	case fi.Mode()&fs.ModeSymlink != 0:
		return &fs.PathError{Op: "remove", Path: id, Err: errSymlink}
	case !fi.IsDir():
		return &fs.PathError{Op: "remove", Path: id, Err: fs.ErrNotExist}
	}
	return nil
}

// names returns what is in the directory dir of root, as far as it can be read.
func names(root *os.Root, dir string) []string {
	f, err := root.Open(dir)
	if err != nil {
		return nil
	}
	all, _ := f.Readdirnames(-1)
	_ = f.Close() // only read
	return all
}
