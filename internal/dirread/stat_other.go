//go:build !linux

package dirread

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/seam"
)

// statPath is [Sessions.Stat] of a path.
func statPath(path string, hooks *seam.Seam) (is Stamp, regular bool, err error) {
	fi, err := os.Lstat(filepath.FromSlash(path))
	if err != nil {
		return Stamp{}, false, err
	}
	return StampOf(fi, hooks), fi.Mode().IsRegular() || fi.IsDir(), nil
}

// statIn is [Sessions.Stat] of a path below the directory in.
func statIn(in *os.File, path string, hooks *seam.Seam) (is Stamp, regular bool, err error) {
	return statPath(in.Name()+"/"+path, hooks)
}

// statEntry returns the stamp of the entry name of the sessions directory, and
// whether it is a directory; symlinks are followed.
func statEntry(in *os.File, name string) (is Stamp, isDir bool, err error) {
	fi, err := os.Stat(filepath.Join(in.Name(), name))
	if err != nil {
		return is, false, err
	}
	return StampOf(fi, nil), fi.IsDir(), nil
}

// has reports whether path, below the directory in, is there, a symlink that
// leads nowhere included, or whether that cannot be told.
func has(in *os.File, path string) bool {
	_, err := os.Lstat(filepath.Join(in.Name(), path))
	return !errors.Is(err, fs.ErrNotExist)
}
