//go:build !linux

package sessiondir

import (
	"os"
	"path/filepath"
	"time"
)

// Stat returns the stamp of the file name, a name in the directory, without
// following a symlink.
func (d *Dir) Stat(name string) (Stamp, error) { return d.lstat(name) }

// leads reports whether id leads to the directory with the stamp is, which is
// not told here.
func (b *Base) leads(string, Stamp) bool { return false }

// statEntry returns when the entry name of the sessions directory was
// modified, and whether it is a directory; symlinks are followed.
func (b *Base) statEntry(_ *os.File, name string) (modified time.Time, isDir bool, err error) {
	fi, err := os.Stat(filepath.Join(b.path, name))
	if err != nil {
		return modified, false, err
	}
	return fi.ModTime(), fi.IsDir(), nil
}
