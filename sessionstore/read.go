package sessionstore

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// file is one file of a session as it was read.
type file struct {
	name  string
	path  string // for errors
	found bool
	parts [][]byte // what it holds; each but the last ends with a line
	stamp sessiondir.Stamp
	bad   *CorruptError // nil: sound, or not found
}

func (f *file) sound() bool { return f.found && f.bad == nil }

// size returns the number of bytes.
func (f *file) size() (n int) {
	for _, part := range f.parts {
		n += len(part)
	}
	return n
}

// whole returns the bytes in one piece.
func (f *file) whole() []byte {
	if len(f.parts) == 1 {
		return f.parts[0]
	}
	return slices.Concat(f.parts...)
}

// readFile reads the file name of dir. That it cannot be read is damage, too.
func readFile(dir *sessiondir.Dir, name string) file {
	return newFile(dir, name, func(name string) ([][]byte, sessiondir.Stamp, error) {
		data, at, err := dir.Read(name)
		return [][]byte{data}, at, err
	})
}

// readLines is readFile for files of lines, which may be large.
func readLines(dir *sessiondir.Dir, name string) file { return newFile(dir, name, dir.ReadLines) }

func newFile(dir *sessiondir.Dir, name string, read func(string) ([][]byte, sessiondir.Stamp, error)) file {
	f := file{name: name, path: dir.Path(name), found: true}
	parts, stamp, err := read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.found = false
	case err != nil:
		f.bad = &CorruptError{Path: f.path, Err: cause(err)}
	}
	f.parts, f.stamp = parts, stamp
	return f
}

// cause strips the operation and the path that a *fs.PathError repeats.
func cause(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// parseMetadata returns the metadata in f, and marks f damaged when it holds
// something else.
func (f *file) parseMetadata() Metadata {
	if !f.sound() {
		return Metadata{}
	}
	md, err := ParseMetadata(f.whole())
	if errors.As(err, &f.bad) {
		f.bad.Path = f.path
	}
	return md
}
