package sessionstore

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/amplifier-go/sessionstorage/internal/limits"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/vfs"
)

// file is one file of a session as it was read.
type file struct {
	name  string
	path  string // for errors
	found bool
	data  []byte
	stamp sessiondir.Stamp
	bad   *CorruptError // nil: sound, or not found

	barred bool // it is bad because it is no regular file, leads out of the sessions directory or may not be read

	// unread is why the system did not let the file be read, which may be sound:
	// nothing may be written in its place. Nil: it was read, or is no file.
	unread error
}

func (f *file) sound() bool { return f.found && f.bad == nil }

// readFile reads the file name of dir. For those who read only, a file that
// cannot be read is damaged.
func readFile(dir *sessiondir.Dir, name string) file {
	f := file{name: name, path: dir.Path(name), found: true}
	data, stamp, err := dir.Read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.found = false
	case err != nil:
		f.bad, f.barred = &CorruptError{Path: f.path, Err: cause(err)}, true
		if refusedBySystem(err) {
			f.unread = unreadError(f.path, err)
		}
	}
	f.data, f.stamp = data, stamp
	return f
}

// barred returns why one of the files that a session is read from could not be
// read at all. unread is the reason where it is none of them.
func barred(unread error, files ...*file) error {
	for _, f := range files {
		if f.barred {
			return f.bad
		}
	}
	return unread
}

// refusedBySystem reports whether a regular file was not read although it may be
// sound. The next attempt may succeed.
func refusedBySystem(err error) bool {
	var errno syscall.Errno
	return noBackup(err) ||
		errors.As(err, &errno) && errno != syscall.ELOOP && errno != syscall.ENXIO && !errors.Is(err, vfs.ErrNotRegular)
}

// noBackup reports whether the backup, which is older, must not stand in for a
// file that could not be read: the process or the system lacks what every read
// needs, the file is too large for the program, or another program does not share
// it.
func noBackup(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM) ||
		errors.Is(err, syscall.EINTR) || errors.Is(err, limits.ErrTooLarge) || errors.Is(err, vfs.ErrInUse)
}

func unreadError(path string, err error) error {
	return fmt.Errorf("read %s: %w (nothing was written, since the file may be whole)", path, cause(err))
}

// cause strips the operation and the path that a *fs.PathError repeats.
func cause(err error) error {
	if errors.Is(err, vfs.ErrInUse) {
		return err // which is around the path
	}
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
