package sessiondir

import (
	"errors"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// Bookkeeping is the directory in the sessions directory for the files that this library
// keeps for itself. No session may have its name.
const Bookkeeping = ".sessionstore"

var errNotDirectory = errors.New("not a directory")

// below opens a directory below dir.
func below(dir *vfs.Dir, path string) (*vfs.Dir, error) {
	root, err := dir.Root().OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return dir.At(root), nil
}

func syncBelow(dir *vfs.Dir, path string) error {
	if path == "." {
		return dir.Sync()
	}
	in, err := below(dir, path)
	if err != nil {
		return err
	}
	return errors.Join(in.Sync(), in.Close())
}

// Trash is the directory in the sessions directory for sessions that were
// removed and can be brought back. Its name begins with a dot, so that no tool
// lists it; no session may have it. Unlike the bookkeeping it may not be lost.
const Trash = ".trash"

var errSymlink = errors.New("it is a symlink")
