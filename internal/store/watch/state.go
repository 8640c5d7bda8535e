package watch

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// state is the state of a path. Two equal states mean that nothing changed, unless it
// changed within one step of the file system's clock. The zero state means that the path
// does not exist.
type state struct {
	kind   kind
	linked bool      // a symlink leads there, or the file has further hard links: it may change without an event
	stamp  vfs.Stamp // on Windows with the time of creation as the inode
}

type kind uint8

const (
	absent kind = iota
	file
	directory
	hidden // the system does not report the state, as when permissions are missing
)

// exists reports whether the path exists, even if it is out of reach.
func (s state) exists() bool { return s.kind != absent }

// id returns the identity of the file or directory on this machine.
func (s state) id() [2]uint64 { return [2]uint64{s.stamp.Dev, s.stamp.Inode} }

// sameAs reports whether both states are of one file or directory, changed or not.
func (s state) sameAs(t state) bool { return s.kind == t.kind && s.id() == t.id() }

// stateAt returns the state of path. It follows symlinks and opens nothing else.
func stateAt(path string) state {
	fi, err := os.Lstat(path)
	link := err == nil && fi.Mode()&fs.ModeSymlink != 0
	if link {
		fi, err = os.Stat(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return state{linked: link}
	case err != nil:
		return state{kind: hidden, linked: link}
	case fi.IsDir():
		return state{directory, link, stampOf(fi)}
	}
	return state{file, link || sessiondir.Links(fi) > 1, stampOf(fi)}
}

// settled reports whether every change after the time at, when the state was taken, shows
// in a later state.
func (s state) settled(at time.Time) bool {
	return s.stamp == (vfs.Stamp{}) || vfs.Settled(nil, s.stamp, at)
}
