package sessiondir

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// staged is the staging directory of a session that is not there yet.
type staged struct {
	path string // below the sessions directory; empty once it is published or removed
	id   string
}

// LeftAfter is the age at which a temporary file or directory counts as left by a killed
// process. A younger one may belong to a process that lives.
const LeftAfter = 24 * time.Hour

// stagingDir is the directory of the bookkeeping that holds the staging
// directories.
const stagingDir = "new"

// mostReady is the number of directories of sessions that stay open between writes.
const mostReady = 8

// ForWrite opens the directory of session id as [Base.Dir] does, with its handle, by which
// files are opened, and its Place. It returns the directory that [Base.Keep] left open, if
// the session's name still leads to that.
func (b *Base) ForWrite(id string) (d *Dir, err error) {
	path := filepath.Join(b.path, id)
	b.mu.Lock()
	if i := slices.IndexFunc(b.ready, func(d *Dir) bool { return d.path == path }); i >= 0 {
		d = b.ready[i]
		b.ready = slices.Delete(b.ready, i, i+1)
	}
	b.mu.Unlock()
	if d != nil {
		if now, err := os.Lstat(path); err == nil && d.StampIn(now).SameFile(d.Place) {
			return d, nil
		}
		_ = d.Close() // nothing waits to be written
	}
	if d, err = b.Dir(id); err != nil {
		return nil, err
	}
	self, err := d.Handle()
	if err == nil {
		d.Place, err = d.StampOf(self)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Keep leaves d, which [Base.ForWrite] opened, open for the next write of the session, and
// closes the directory used least recently, if there are too many. It closes d on a file
// system that is not local: another machine may give its name to another directory there.
func (b *Base) Keep(d *Dir) error {
	if d.Local() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.ready = append(b.ready, d); len(b.ready) <= mostReady {
			return nil
		}
		d = b.ready[0]
		b.ready = slices.Delete(b.ready, 0, 1)
	}
	return d.Close()
}

// Make opens the directory of session id. When there is none, it returns a staging
// directory, and made is true: [Base.Publish] makes it the session's directory, whole,
// once its files are written, or [Base.Abandon] removes it.
func (b *Base) Make(id string) (d *Dir, made bool, err error) {
	d, err = b.Dir(id)
	if !errors.Is(err, fs.ErrNotExist) {
		return d, false, err
	}
	if err := b.Restore(); err != nil {
		return nil, false, err
	}
	staged, root, err := b.begin(id)
	if err != nil {
		return nil, false, err
	}
	d = b.dir(root, id)
	d.staged = staged
	return d, true, nil
}

// Publish makes d, which [Base.Make] made, the directory of its session. The error is
// [fs.ErrExist] when there is one already. With sync the directory and its files keep
// their names in a power cut. Publish closes d: Windows does not rename open directories.
func (b *Base) Publish(d *Dir, sync bool) error {
	if sync {
		if err := d.Sync(); err != nil {
			return err
		}
	}
	if err := d.Close(); err != nil {
		return err
	}
	return b.publish(d.staged, sync)
}

// Abandon removes d, which [Base.Make] made, unless it was published.
func (b *Base) Abandon(d *Dir) error { return b.discard(d.staged) }

// begin makes a staging directory for session id and opens it; the caller closes it. The
// error says whether a file or a symlink has the session's name. When begin fails, it
// leaves no staging directory, unless the directory cannot be removed either.
func (b *Base) begin(id string) (*staged, *os.Root, error) {
	top, err := b.open()
	if err != nil {
		return nil, nil, err
	}
	if fi, err := top.Root().Lstat(id); err == nil {
		return nil, nil, &fs.PathError{Op: "make", Path: id, Err: occupied(fi)}
	}
	in := filepath.Join(Bookkeeping, stagingDir)
	if err := top.MkdirAll(in); err != nil {
		return nil, nil, err
	}
	b.sweepStaged(top, in)
	d := &staged{path: filepath.Join(in, newName(time.Now())), id: id}
	if err := top.Mkdir(d.path); err != nil {
		return nil, nil, err
	}
	root, err := top.Root().OpenRoot(d.path)
	if err != nil {
		return nil, nil, errors.Join(err, top.Remove(d.path))
	}
	b.staged.Store(d.path, true)
	return d, root, nil
}

// occupied returns the reason why a session's directory cannot have its name.
func occupied(fi fs.FileInfo) error {
	switch {
	case fi.Mode()&fs.ModeSymlink != 0:
		return errSymlink
	case fi.IsDir(): // another program made it just now
		return fs.ErrExist
	}
	return errNotDirectory
}

// publish makes the staging directory d, which must be closed, the directory of its
// session. The error is [fs.ErrExist] when there is one already. With sync the name is
// durable when publish returns; when the sync fails, the session exists nevertheless.
func (b *Base) publish(d *staged, sync bool) error {
	top, err := b.open()
	if err != nil {
		return err
	}
	if err := top.Rename(d.path, d.id); err != nil {
		if _, serr := top.Root().Lstat(d.id); serr == nil {
			err = &fs.PathError{Op: "make", Path: d.id, Err: fs.ErrExist}
		}
		return err
	}
	b.staged.Delete(d.path)
	d.path = ""
	if !sync {
		return nil
	}
	return top.Sync()
}

// discard removes the staging directory d, unless it was published.
func (b *Base) discard(d *staged) error {
	if d.path == "" {
		return nil
	}
	top, err := b.open()
	if err != nil {
		return err
	}
	b.staged.Delete(d.path)
	return top.RemoveAll(d.path)
}

// sweepStaged removes the staging directories that killed processes left.
func (b *Base) sweepStaged(top *vfs.Dir, in string) {
	names, _ := top.NamesIn(in) // directories that cannot be listed are removed next time
	for _, name := range names {
		left := filepath.Join(in, name)
		if _, own := b.staged.Load(left); own {
			continue
		}
		if at, ok := begun(top.Root(), left); ok && time.Since(at) > LeftAfter {
			_ = top.RemoveAll(left) // tried again next time
		}
	}
}

// newName returns a new name for a staging directory that is begun at a time. The
// directory's own time is not enough: for a session which comes from elsewhere it is set
// to the last change before the directory is published.
func newName(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) + "-" + rand.Text() }

// begun returns the time when the staging directory at path was begun.
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

// Trash opens the directory [Trash], and makes it if it is missing.
func (b *Base) Trash() (*vfs.Dir, error) {
	top, err := b.open()
	if err != nil {
		return nil, err
	}
	switch err := top.Mkdir(Trash); {
	case err == nil:
		if err := top.Sync(); err != nil {
			return nil, err
		}
	case !errors.Is(err, fs.ErrExist):
		return nil, err
	}
	return top.Below(Trash)
}

// Send moves the directory of session id, whole and at once, into the directory to, a
// path below the sessions directory, where it keeps its name. The error is
// [fs.ErrNotExist] when there is no such session and [fs.ErrExist] when to has something
// of that name; a symlink is refused. The session is at its new place after a power cut
// once [Base.Sync] has synced both directories.
func (b *Base) Send(id, to string) error {
	top, err := b.open()
	if err != nil {
		return err
	}
	if err := checkSession(top.Root(), id); err != nil {
		return err
	}
	return move(top, id, filepath.Join(to, id))
}

// Fetch moves a session back that Send moved away.
func (b *Base) Fetch(id, from string) error {
	top, err := b.open()
	if err != nil {
		return err
	}
	path := filepath.Join(from, id)
	if err := checkSession(top.Root(), path); err != nil {
		return err
	}
	return move(top, path, id)
}

// move renames a directory whose new name must be free.
func move(top *vfs.Dir, from, to string) error {
	_, err := top.Root().Lstat(to)
	switch {
	case err == nil:
		return &fs.PathError{Op: "move", Path: to, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return top.Rename(from, to)
}

// deletedDir is the directory of the bookkeeping that holds sessions until their
// files are removed.
const deletedDir = "trash"

// Delete removes path, the directory of a session or another below the sessions
// directory, with its content. The directory vanishes at once and whole; if the process
// is killed, the next Delete removes the remains. With sync the directory does not come
// back after a power cut. The error is [fs.ErrNotExist] when there is none; a symlink is
// refused.
func (b *Base) Delete(path string, sync bool) error {
	top, err := b.open()
	if err != nil {
		return err
	}
	if err := checkSession(top.Root(), path); err != nil {
		return err
	}
	in := filepath.Join(Bookkeeping, deletedDir)
	if err := top.MkdirAll(in); err != nil {
		return err
	}
	if err := top.Rename(path, filepath.Join(in, rand.Text())); err != nil {
		return err
	}
	if sync {
		if err := syncBelow(top, filepath.Dir(path)); err != nil {
			return err
		}
	}
	names, _ := top.NamesIn(in)
	for _, left := range names {
		_ = top.RemoveAll(filepath.Join(in, left)) // the session is gone; files that stay are tried again next time
	}
	return nil
}

// checkSession returns the reason why path is no session's directory. The error is
// [fs.ErrNotExist] when path does not exist or is a file.
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
