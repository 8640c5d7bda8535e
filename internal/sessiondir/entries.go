package sessiondir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
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
