package vfs

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// The offsets of the parts of an entry in the output of getdents64.
const (
	sizeAt = 16 // two bytes
	kindAt = 18
	nameAt = 19 // up to a zero
)

// readNames yields the names in the directory f as texts of a listing, in the
// order of the file system.
func readNames(f *os.File, yield func(text string)) error {
	buf := make([]byte, 32<<10)
	var text []byte
	for {
		var n int
		err := onFd(f, func(fd int) (err error) {
			n, err = unix.ReadDirent(fd, buf)
			return err
		})
		if err != nil {
			return &fs.PathError{Op: "readdir", Path: f.Name(), Err: err}
		}
		if n <= 0 {
			return nil
		}
		text = text[:0]
		for rest := buf[:n]; len(rest) > 0; {
			size := int(binary.NativeEndian.Uint16(rest[sizeAt:]))
			name, _, _ := bytes.Cut(rest[nameAt:size], []byte{0})
			is := kindOf(rest[kindAt])
			if rest[kindAt] == unix.DT_UNKNOWN {
				is = ask(f, string(name))
			}
			text = appendName(text, name, is)
			rest = rest[size:]
		}
		yield(string(text))
	}
}

// ask returns the kind of a name in the directory f, if the file system does not report
// it in a listing.
func ask(f *os.File, name string) kind {
	var at unix.Stat_t
	if onFd(f, func(fd int) error { return unix.Fstatat(fd, name, &at, unix.AT_SYMLINK_NOFOLLOW) }) != nil {
		return unknown
	}
	return kindOf(byte(at.Mode & unix.S_IFMT >> 12))
}

func kindOf(dirent byte) kind {
	switch dirent {
	case unix.DT_DIR:
		return directory
	case unix.DT_LNK:
		return symlink
	case unix.DT_UNKNOWN:
		return unknown
	}
	return other
}
