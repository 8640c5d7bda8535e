//go:build !linux

package sessiondir

import (
	"io/fs"
	"os"
)

// tellsChanges is false: whether a directory's time tells every change is not
// known here.
func tellsChanges(*os.File) bool { return false }

// readNames returns the names in the directory f as texts of a listing, in the
// order of the file system.
func readNames(f *os.File) (texts []string, err error) {
	all, err := f.ReadDir(-1)
	var text []byte
	for _, e := range all {
		text = appendName(text, e.Name(), kindOf(e.Type()))
	}
	return []string{string(text)}, err
}

func kindOf(mode fs.FileMode) kind {
	switch {
	case mode.IsDir():
		return directory
	case mode&fs.ModeSymlink != 0:
		return symlink
	case mode == fs.ModeIrregular:
		return unknown
	}
	return other
}
