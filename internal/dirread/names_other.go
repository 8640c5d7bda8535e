//go:build !linux

package dirread

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// readNames yields the names in the directory f as texts of a listing, in the
// order of the file system.
func readNames(f *os.File, yield func(text string)) error {
	for {
		some, err := f.ReadDir(500)
		var text []byte
		for _, e := range some {
			text = appendName(text, e.Name(), kindOf(e.Type()))
		}
		yield(string(text))
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
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
