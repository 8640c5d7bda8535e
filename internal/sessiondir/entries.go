package sessiondir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
)

// Entry is the directory of a session as a listing finds it.
type Entry struct {
	Name     string
	Modified time.Time // zero where the system does not tell
	Symlink  bool
}

// Entries returns the directories that do not begin with a dot, and the
// symlinks to directories, in the order of the file system. Those whose name
// keep refuses are not looked at. A sessions directory that is gone has none.
func (b *Base) Entries(keep func(name string) bool) ([]Entry, error) {
	f, err := os.Open(b.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all, err := f.ReadDir(-1)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, len(all))
	for _, e := range all {
		if strings.HasPrefix(e.Name(), ".") || !keep(e.Name()) {
			continue
		}
		if found, ok := b.entry(e); ok {
			entries = append(entries, found)
		}
	}
	return entries, nil
}

func (b *Base) entry(e fs.DirEntry) (Entry, bool) {
	found := Entry{Name: e.Name(), Symlink: e.Type()&fs.ModeSymlink != 0}
	if !e.IsDir() && !found.Symlink && e.Type() != fs.ModeIrregular {
		return found, false
	}
	fi, err := os.Stat(filepath.Join(b.path, e.Name()))
	if err != nil {
		return found, e.IsDir() && !errors.Is(err, fs.ErrNotExist)
	}
	found.Modified = fi.ModTime()
	return found, fi.IsDir()
}

const trash = "trash"

// Discard removes the directory of session id with all that is in it. It
// vanishes at once and whole; what a killed process leaves of it is removed
// by the next Discard. The error is [fs.ErrNotExist] when there is none; a
// symlink is refused.
func (b *Base) Discard(id string, unique string, sync bool) error {
	root, err := b.open()
	if err != nil {
		return err
	}
	if err := removable(root, id); err != nil {
		return err
	}
	top := atomicfile.New(root, b.seam)
	bin := filepath.Join(Bookkeeping, trash)
	for _, name := range []string{Bookkeeping, bin} {
		if err := top.Mkdir(name); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	own := filepath.Join(bin, unique)
	if err := top.Rename(id, own); err != nil {
		return err
	}
	if sync {
		if err := top.Sync(); err != nil {
			return err
		}
	}
	for _, left := range names(root, bin) {
		if left != unique {
			_ = top.RemoveAll(filepath.Join(bin, left)) // another call may be at it
		}
	}
	return top.RemoveAll(own)
}

var errSymlink = errors.New("it is a symlink")

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
	_ = f.Close()
	return all
}
