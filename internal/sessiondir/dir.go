package sessiondir

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/fault"
)

// The files of a session.
const (
	Transcript = "transcript.jsonl"
	Metadata   = "metadata.json"
	Config     = "config.md"
	backupExt  = ".backup"
)

// Backup returns the name of name's backup.
func Backup(name string) string { return name + backupExt }

// Dir is the open directory of one session.
type Dir struct {
	*atomicfile.Dir
	path   string // where it is or will be
	staged string // where it is below the sessions directory until it is published; else empty
	seam   *fault.Seam
}

// Path returns the path of the file name, for people.
func (d *Dir) Path(name string) string { return filepath.Join(d.path, name) }

// Open opens the file name for reading. A directory in its place is an error,
// and so is a pipe, for which it does not wait.
func (d *Dir) Open(name string) (io.ReadSeekCloser, Stamp, error) {
	f, err := d.Root().OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, Stamp{}, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: name, Err: errNotRegular}
	}
	if err != nil {
		return nil, Stamp{}, errors.Join(err, f.Close())
	}
	return f, d.stamp(fi), nil
}

var errNotRegular = errors.New("not a regular file")

// Read returns the content of the file name and the stamp that it had before
// it was read.
func (d *Dir) Read(name string) (data []byte, at Stamp, err error) {
	f, at, err := d.Open(name)
	if err != nil {
		return nil, Stamp{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data = make([]byte, at.Size, at.Size+1)
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return data[:n], at, nil
	}
	if err != nil {
		return nil, at, err
	}
	rest, err := io.ReadAll(f)
	return append(data, rest...), at, err
}

// Stat returns the stamp of the file name without following a symlink.
func (d *Dir) Stat(name string) (Stamp, error) {
	fi, err := d.Root().Lstat(name)
	if err != nil {
		return Stamp{}, err
	}
	return d.stamp(fi), nil
}

// Rotate makes the file name its own backup, without copying where the file
// system has hard links: the file keeps its name and gets that of the backup
// too, until it is replaced. A name that is not there leaves the backup.
func (d *Dir) Rotate(name string, sync bool) error {
	fi, err := d.Root().Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	old, err := d.Root().Lstat(Backup(name))
	switch {
	case err != nil:
	case os.SameFile(fi, old):
		return nil // a rotation that was interrupted before the replacement
	case old.IsDir():
		if _, err := d.PutAside(Backup(name)); err != nil {
			return err
		}
	}
	if fi.Mode().IsRegular() {
		tmp := "." + Backup(name) + strconv.FormatInt(rand.Int64(), 10)
		if err := d.Link(name, tmp); err == nil {
			if err := d.Rename(tmp, Backup(name)); err != nil {
				_ = d.Remove(tmp) // leftovers are cleaned by age
				return err
			}
			return nil
		}
	}
	return d.copyBackup(name, sync)
}

// copyBackup is Rotate for symlinks and for file systems without hard links.
func (d *Dir) copyBackup(name string, sync bool) error {
	src, at, err := d.Open(name)
	if err != nil {
		return err
	}
	err = d.Replace(Backup(name), sync, at.Mtime, func(w io.Writer) error {
		_, err := io.Copy(w, src)
		return err
	})
	return errors.Join(err, src.Close())
}

// AsideName returns the name under which the file name is to be kept because
// it is damaged: name, ".damaged-", and the UTC time of its last change; with
// a number where such a file stands already.
func (d *Dir) AsideName(name string) string {
	at := time.Unix(0, 0)
	if fi, err := d.Root().Lstat(name); err == nil {
		at = fi.ModTime()
	}
	base := name + ".damaged-" + at.UTC().Format("20060102T150405Z")
	aside := base
	for n := 2; ; n++ {
		if _, err := d.Root().Lstat(aside); err != nil {
			return aside
		}
		aside = base + "-" + strconv.Itoa(n)
	}
}

// PutAside renames the file or directory name to [Dir.AsideName] and returns
// that name.
func (d *Dir) PutAside(name string) (string, error) {
	aside := d.AsideName(name)
	return aside, d.Rename(name, aside)
}

// Names returns the names in the directory, in the directory's order.
func (d *Dir) Names() []string { return names(d.Root(), ".") }
