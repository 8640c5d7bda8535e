package sessiondir

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// stagingDir is the directory of the bookkeeping that holds the staging
// directories.
const stagingDir = "new"

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
	if fi.Mode()&fs.ModeSymlink != 0 {
		return errSymlink
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
