package staging

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/vfs"
)

// stagingDir is the directory of the bookkeeping that holds the staging
// directories.
const stagingDir = "new"

// Staged is the staging directory of a session that is not there yet.
type Staged struct {
	path string // below the sessions directory; empty once it is published or removed
	id   string
}

// Begin makes a staging directory for session id and opens it; whoever calls
// closes that. The error tells what stands in the session's place, if
// something does. When it fails, it leaves no staging directory, unless that
// cannot be removed either.
func (s *Staging) Begin(id string) (*Staged, *os.Root, error) {
	top, err := s.open()
	if err != nil {
		return nil, nil, err
	}
	if fi, err := top.Root().Lstat(id); err == nil {
		return nil, nil, &fs.PathError{Op: "make", Path: id, Err: occupied(fi)}
	}
	in := filepath.Join(s.in, stagingDir)
	if err := top.MkdirAll(in); err != nil {
		return nil, nil, err
	}
	s.sweep(top, in)
	d := &Staged{path: filepath.Join(in, newName(time.Now())), id: id}
	if err := top.Mkdir(d.path); err != nil {
		return nil, nil, err
	}
	root, err := top.Root().OpenRoot(d.path)
	if err != nil {
		return nil, nil, errors.Join(err, top.Remove(d.path))
	}
	s.own.Store(d.path, true)
	return d, root, nil
}

// occupied tells what stands in the place of a session's directory.
func occupied(fi fs.FileInfo) error {
	if fi.Mode()&fs.ModeSymlink != 0 {
		return errSymlink
	}
	return errNotDirectory
}

var errNotDirectory = errors.New("not a directory")

// Publish makes the staging directory d, which must be closed, that of its
// session. The error is [fs.ErrExist] when there is one by now. With sync the
// name is durable when Publish returns; when the sync fails, the session is there
// nevertheless.
func (s *Staging) Publish(d *Staged, sync bool) error {
	top, err := s.open()
	if err != nil {
		return err
	}
	if err := top.Rename(d.path, d.id); err != nil {
		if _, serr := top.Root().Lstat(d.id); serr == nil {
			err = &fs.PathError{Op: "make", Path: d.id, Err: fs.ErrExist}
		}
		return err
	}
	s.own.Delete(d.path)
	d.path = ""
	if !sync {
		return nil
	}
	return top.Sync()
}

// Remove removes the staging directory d, unless it was published.
func (s *Staging) Remove(d *Staged) error {
	if d.path == "" {
		return nil
	}
	top, err := s.open()
	if err != nil {
		return err
	}
	s.own.Delete(d.path)
	return top.RemoveAll(d.path)
}

// LeftAfter is how long what a killed process left is given, since it may be
// another one's that lives.
const LeftAfter = 24 * time.Hour

// sweep removes the staging directories that killed processes left.
func (s *Staging) sweep(top *vfs.Dir, in string) {
	names, _ := top.NamesIn(in) // what cannot be listed is removed next time
	for _, name := range names {
		left := filepath.Join(in, name)
		if _, own := s.own.Load(left); own {
			continue
		}
		if at, ok := begun(top.Root(), left); ok && time.Since(at) > LeftAfter {
			_ = top.RemoveAll(left) // tried again next time
		}
	}
}

// newName returns a new name for a staging directory that is begun at a time.
// The directory's own time cannot tell: that of a session which comes from
// elsewhere is set to its last change before it is published.
func newName(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) + "-" + rand.Text() }

// begun returns when the staging directory at path was begun.
func begun(root *os.Root, path string) (time.Time, bool) {
	seconds, _, ok := strings.Cut(filepath.Base(path), "-")
	if at, err := strconv.ParseInt(seconds, 10, 64); ok && err == nil {
		return time.Unix(at, 0), true
	}
	fi, err := root.Lstat(path)
	if err != nil {
		return time.Time{}, false
	}
	return fi.ModTime(), true
}
