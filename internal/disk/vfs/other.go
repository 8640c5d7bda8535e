//go:build !linux

package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
)

// isPlain returns false: it is not used here.
func isPlain(string) bool { return false }

// File is a file of a [Reader], open for reading. It is for one goroutine.
type File struct{ file *os.File }

// openFile has no fast way here.
func openFile(*os.File, string) (*File, error) { return nil, errors.ErrUnsupported }

// Read reads as an [io.Reader] does.
func (f *File) Read(p []byte) (int, error) { return f.file.Read(p) }

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// ReadFast returns the content of the file name of session id if there is a fast way to
// it.
func (s *Sessions) ReadFast(id, name string) (data []byte, ok bool) { return nil, false }

// ReadStamped is [Sessions.ReadFast] with the stamp of the file.
func (s *Sessions) ReadStamped(id, name string) (data []byte, now Stamp, ok bool) {
	return nil, Stamp{}, false
}

// View returns false: it is for Linux.
func (s *Sessions) View(id, name string, look func(data []byte, is Stamp)) (ok bool) { return false }

// ReadFast is [Sessions.ReadFast] with room for the content of the file.
func (d *Reader) ReadFast(id, name string, room []byte) (data []byte, err error) {
	return nil, errors.ErrUnsupported
}

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

// has reports whether path, below the directory in, exists, also as a symlink that leads
// nowhere, or whether that is not known.
func has(in *os.File, path string) bool {
	_, err := os.Lstat(filepath.Join(in.Name(), path))
	return !errors.Is(err, fs.ErrNotExist)
}

// IsLocal returns false: the file systems are not known here.
func IsLocal(*os.File) bool { return false }

// IsLocalAt returns false: the file systems are not known here.
func IsLocalAt(string) bool { return false }

// LargeFile is 0: other systems open files of any size.
const LargeFile = 0

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

// beginSync does nothing: other systems have no such call.
func beginSync(*os.File, int64, int64) {}

func (d *Dir) setTime(name string, at time.Time) error { return d.root.Chtimes(name, time.Time{}, at) }

// Stat returns the stamp of the file name, a name in the directory, without following a
// symlink.
func (d *Dir) Stat(name string) (Stamp, error) { return d.lstat(name) }

// LeaseOf returns LeaseUnknown: the system has no leases.
func LeaseOf(*os.File) Lease { return LeaseUnknown }

func takeLease(*os.File) error { return ErrNoLease }
func dropLease(*os.File)       {}
