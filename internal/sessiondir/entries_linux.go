package sessiondir

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Where the parts of an entry are in what getdents64 writes.
const (
	sizeAt = 16 // two bytes
	kindAt = 18
	nameAt = 19 // up to a zero
)

// readNames returns the names in the directory f that keep wants, in the order
// of the file system. keep must not hold on to the name that it is given.
func readNames(f *os.File, keep func(name string, kind fs.FileMode) bool) (found []named, err error) {
	buf := make([]byte, 64<<10)
	for {
		n, err := unix.ReadDirent(int(f.Fd()), buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, &fs.PathError{Op: "readdir", Path: f.Name(), Err: err}
		}
		if n == 0 {
			return found, nil
		}
		text := string(buf[:n]) // once, not for each name
		for i := 0; i < n; {
			size := int(binary.NativeEndian.Uint16(buf[i+sizeAt:]))
			name, _, _ := strings.Cut(text[i+nameAt:i+size], "\x00")
			kind := buf[i+kindAt]
			if kind == unix.DT_UNKNOWN {
				kind = ask(f, name)
			}
			if kind := kindOf(kind); keep(name, kind) {
				found = append(found, named{strings.Clone(name), kind})
			}
			i += size
		}
	}
}

// ask returns what has a name in the directory f, of which the file system
// does not tell in a listing.
func ask(f *os.File, name string) (kind byte) {
	var at unix.Stat_t
	if unix.Fstatat(int(f.Fd()), name, &at, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return unix.DT_UNKNOWN
	}
	return byte(at.Mode & unix.S_IFMT >> 12)
}

func kindOf(kind byte) fs.FileMode {
	switch kind {
	case unix.DT_DIR:
		return fs.ModeDir
	case unix.DT_REG:
		return 0
	case unix.DT_LNK:
		return fs.ModeSymlink
	case unix.DT_UNKNOWN:
		return fs.ModeIrregular
	}
	return fs.ModeDevice // or whatever else is no directory
}
