package staging

import (
	"errors"
	"io/fs"
	"os"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/vfs"
)

// Staging stages and removes the sessions of one sessions directory. It is
// safe for concurrent use, also by several processes.
type Staging struct {
	in   string                          // the bookkeeping, below the sessions directory
	open func() (*vfs.Dir, error) // the sessions directory that stands at its path now
	own  sync.Map                        // paths of the staging directories that are in use here
}

// New returns what stages sessions in the directory in, a path below the
// sessions directory. open returns the sessions directory that stands at its
// path now; whoever passes it closes that.
func New(in string, open func() (*vfs.Dir, error)) *Staging {
	return &Staging{in: in, open: open}
}

// checkSession tells why what stands at path may not be taken for a session's
// directory. The error is [fs.ErrNotExist] when nothing does, or a file.
func checkSession(root *os.Root, path string) error {
	fi, err := root.Lstat(path)
	switch {
	case err != nil:
		return err
	case fi.Mode()&fs.ModeSymlink != 0:
		return &fs.PathError{Op: "remove", Path: path, Err: errSymlink}
	case !fi.IsDir():
		return &fs.PathError{Op: "remove", Path: path, Err: fs.ErrNotExist}
	}
	return nil
}

var errSymlink = errors.New("it is a symlink")
