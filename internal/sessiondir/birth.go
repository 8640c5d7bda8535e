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
)

// The directories of the bookkeeping that hold sessions which are not there
// yet and not there any more.
const (
	nursery = "new"
	doomed  = "trash"
)

// Make opens the directory of session id. When there is none, it returns one
// beside the sessions, and made is true: [Base.Publish] makes that the
// session's, whole, once its files are written, or [Base.Abandon] removes it.
func (b *Base) Make(id string) (d *Dir, made bool, err error) {
	d, err = b.Dir(id)
	if !errors.Is(err, fs.ErrNotExist) {
		return d, false, err
	}
	if err := b.Restore(); err != nil {
		return nil, false, err
	}
	if fi, err := os.Lstat(filepath.Join(b.path, id)); err == nil {
		return nil, false, &fs.PathError{Op: "make", Path: id, Err: occupied(fi)}
	}
	d, err = b.stage(id)
	return d, err == nil, err
}

// occupied tells what stands in the place of a session's directory.
func occupied(fi fs.FileInfo) error {
	if fi.Mode()&fs.ModeSymlink != 0 {
		return errSymlink
	}
	return errNotDirectory
}

var errSymlink = errors.New("it is a symlink")

func (b *Base) stage(id string) (*Dir, error) {
	top, err := b.open()
	if err != nil {
		return nil, err
	}
	in, err := b.keep(nursery)
	if err != nil {
		return nil, err
	}
	b.sweep(in)
	own := filepath.Join(in, bornName(time.Now()))
	if err := top.Mkdir(own); err != nil {
		return nil, err
	}
	root, err := top.Root().OpenRoot(own)
	if err != nil {
		return nil, err
	}
	b.building.Store(own, true)
	d := b.dir(root, id)
	d.staged = own
	return d, nil
}

// keep makes the directory name of the bookkeeping and returns its path below
// the sessions directory.
func (b *Base) keep(name string) (string, error) {
	top, err := b.open()
	if err != nil {
		return "", err
	}
	path := filepath.Join(Bookkeeping, name)
	for _, dir := range []string{Bookkeeping, path} {
		if err := top.Mkdir(dir); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	return path, nil
}

// leftAfter is how long what a killed process left is given, since it may be
// another one's that lives.
const leftAfter = 24 * time.Hour

// sweep removes what killed processes left in the directory in.
func (b *Base) sweep(in string) {
	top, err := b.open()
	if err != nil {
		return
	}
	for _, name := range names(top.Root(), in) {
		left := filepath.Join(in, name)
		if _, own := b.building.Load(left); own {
			continue
		}
		if at, ok := born(top.Root(), left); ok && time.Since(at) > leftAfter {
			_ = top.RemoveAll(left) // tried again next time
		}
	}
}

// bornName returns a new name for what is begun at a time. The directory's own
// time cannot tell: that of a session which comes from elsewhere is set to its
// last change before it is published.
func bornName(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) + "-" + rand.Text() }

// born returns when what lies at path was begun.
func born(root *os.Root, path string) (time.Time, bool) {
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

// Publish makes d, which [Base.Make] made, the directory of its session. The
// error is [fs.ErrExist] when there is one by now. With sync it and its files
// keep their names in a power cut. d is closed: Windows does not rename what
// is open.
func (b *Base) Publish(d *Dir, sync bool) error {
	top, err := b.open()
	if err != nil {
		return err
	}
	if sync {
		if err := d.Sync(); err != nil {
			return err
		}
	}
	if err := d.Close(); err != nil {
		return err
	}
	id := filepath.Base(d.path)
	err = top.Rename(d.staged, id)
	if err != nil {
		if _, serr := top.Root().Lstat(id); serr == nil {
			err = &fs.PathError{Op: "make", Path: id, Err: fs.ErrExist}
		}
		return err
	}
	b.building.Delete(d.staged)
	d.staged = ""
	if !sync {
		return nil
	}
	return top.Sync()
}

// Abandon removes d, which [Base.Make] made, unless it was published.
func (b *Base) Abandon(d *Dir) error {
	top, err := b.open()
	if err != nil || d.staged == "" {
		return err
	}
	b.building.Delete(d.staged)
	return top.RemoveAll(d.staged)
}
