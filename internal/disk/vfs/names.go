package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
)

// Rename gives the file name the name to, and replaces a file of that name.
func (d *Dir) Rename(name, to string) error {
	return d.change(d.op(seam.Rename, name, to), func() error { return d.root.Rename(name, to) })
}

// Link gives the file name the second name to, which must be free.
func (d *Dir) Link(name, to string) error {
	return d.change(d.op(seam.Link, name, to), func() error { return d.root.Link(name, to) })
}

// Remove removes the file or empty directory name.
func (d *Dir) Remove(name string) error {
	return d.change(d.op(seam.Remove, name, ""), func() error { return d.root.Remove(name) })
}

// RemoveAll removes name and everything below it; symlinks are not followed.
func (d *Dir) RemoveAll(name string) error {
	return d.change(d.op(seam.RemoveAll, name, ""), func() error { return d.root.RemoveAll(name) })
}

// Mkdir makes the directory name for the owner alone.
func (d *Dir) Mkdir(name string) error {
	return d.seam.Do(d.op(seam.Mkdir, name, ""), func() error {
		if err := d.root.Mkdir(name, 0o700); err != nil {
			return err
		}
		if err := Own(d.root, name); err != nil {
			return errors.Join(err, d.root.Remove(name))
		}
		return nil
	})
}

// owned ends the making of the file f, which may have failed: see [Own]. After an error,
// f is closed and the file is removed.
func (d *Dir) owned(name string, f *os.File, err error) error {
	if err != nil {
		return err
	}
	if err = Own(d.root, name); err != nil {
		err = errors.Join(err, f.Close(), d.root.Remove(name))
	}
	return err
}

// MkdirAll makes the directory path and its parents, for the owner alone, if they are
// missing.
func (d *Dir) MkdirAll(path string) error {
	if parent := filepath.Dir(path); parent != "." {
		if err := d.MkdirAll(parent); err != nil {
			return err
		}
	}
	if err := d.Mkdir(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// NamesIn returns the names in the directory path, in its order. With an error it returns
// the names that could be read.
func (d *Dir) NamesIn(path string) ([]string, error) {
	f, err := d.root.Open(path)
	if err != nil {
		return nil, err
	}
	all, err := f.Readdirnames(-1)
	_ = f.Close() // only read
	return all, err
}

// Sync makes the directory's names durable. Windows keeps names durable by
// itself and has no such call; there it does nothing.
func (d *Dir) Sync() error {
	return d.seam.Do(d.op(seam.SyncDir, "", ""), d.syncNames)
}

// Now returns the present time, or a time just after after, if that is later. The clock
// of a file system, which is coarser, hardly ever gives that time to another change.
func Now(after time.Time) time.Time {
	now := time.Now()
	if !now.After(after) {
		return after.Add(time.Microsecond)
	}
	return now
}

// SetTime sets the time of the last change of the file name.
func (d *Dir) SetTime(name string, at time.Time) error {
	op := d.op(seam.Chtimes, name, "")
	op.Time = at
	return d.change(op, func() error { return d.setTime(name, at) })
}

// Exchange swaps the names of the files a and b, at once: at every instant each name
// belongs to one of them. The error Is [errors.ErrUnsupported] where the system or the
// file system has no such call. When it fails, nothing has changed.
func (d *Dir) Exchange(a, b string) error {
	return known(d.seam.Do(d.op(seam.Exchange, a, b), func() error { return d.exchange(a, b) }))
}

// known returns err, the outcome of a call with a flag that some file systems do not know.
func known(err error) error {
	if errors.Is(err, syscall.EINVAL) {
		return errors.ErrUnsupported
	}
	return err
}
