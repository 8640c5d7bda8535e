package sessionstore

import (
	"errors"
	"io/fs"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// file is one file of a session as it was read.
type file struct {
	name  string
	path  string // for errors
	found bool
	data  []byte
	stamp sessiondir.Stamp
	bad   *CorruptError // nil: sound, or not found
}

func (f *file) sound() bool { return f.found && f.bad == nil }

// readFile reads the file name of dir. That it cannot be read is damage, too.
func readFile(dir *sessiondir.Dir, name string) file {
	f := file{name: name, path: dir.Path(name), found: true}
	data, stamp, err := dir.Read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.found = false
	case err != nil:
		f.bad = &CorruptError{Path: f.path, Err: cause(err)}
	}
	f.data, f.stamp = data, stamp
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
	md, err := ParseMetadata(f.data)
	if errors.As(err, &f.bad) {
		f.bad.Path = f.path
	}
	return md
}
