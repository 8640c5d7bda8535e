package sessiondir

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
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
	kept   bool  // a Seat closes it
	is     Stamp // of a kept one
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

// rereads is how often a file is read again because it changed meanwhile.
const rereads = 10

// Read returns the content of the file name and the stamp that it had before
// it was read. It reads again while the file is written or replaced under its
// hands: an old file may be emptied by then.
func (d *Dir) Read(name string) (data []byte, at Stamp, err error) {
	for range rereads {
		steady := false
		if data, at, steady, err = d.readOnce(name); err != nil || steady {
			break
		}
	}
	return data, at, err
}

func (d *Dir) readOnce(name string) (data []byte, at Stamp, steady bool, err error) {
	f, at, err := d.Open(name)
	if err != nil {
		return nil, Stamp{}, false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data = make([]byte, at.Size, at.Size+1)
	n, err := fill(f, data)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return data[:n], at, at.Size == 0 && d.leadsTo(name, at), nil
	}
	if err != nil {
		return nil, at, false, err
	}
	rest, err := io.ReadAll(f)
	if err != nil {
		return nil, at, false, err
	}
	return append(data, rest...), at, d.leadsTo(name, at), nil
}

// halves is from how many bytes on the halves of a file are read at once.
const halves = 4 << 20

// fill reads as much as data has room for, as [io.ReadFull] does.
func fill(f io.ReadSeeker, data []byte) (int, error) {
	at, ok := f.(io.ReaderAt)
	if !ok || len(data) < halves || runtime.GOMAXPROCS(0) < 2 {
		return io.ReadFull(f, data)
	}
	half := len(data) / 2
	var first, second int
	var wait sync.WaitGroup
	wait.Go(func() { second, _ = at.ReadAt(data[half:], int64(half)) })
	first, _ = at.ReadAt(data[:half], 0)
	wait.Wait()
	if first+second < len(data) { // it is read again to know where it ends
		return io.ReadFull(f, data)
	}
	_, err := f.Seek(int64(len(data)), io.SeekStart)
	return len(data), err
}

// leadsTo reports whether name is the file with the stamp at, unchanged.
func (d *Dir) leadsTo(name string, at Stamp) bool {
	fi, err := d.Root().Stat(name)
	return err == nil && d.stamp(fi).SameContent(at)
}

// lstat is [Dir.Stat] by way of the root.
func (d *Dir) lstat(name string) (Stamp, error) {
	fi, err := d.Root().Lstat(name)
	if err != nil {
		return Stamp{}, err
	}
	return d.stamp(fi), nil
}

// Retire prepares the replacement of the file name, which had the stamp was
// when it was read: it is to become its own backup. What is not a plain file,
// Retire copies to the backup at once. The zero stamp is that of any file.
func (d *Dir) Retire(name string, was Stamp, sync bool) (atomicfile.Keep, error) {
	keep := atomicfile.Keep{}
	fi, err := d.Root().Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return keep, nil
	}
	if err != nil {
		return keep, err
	}
	if old, err := d.Root().Lstat(Backup(name)); err == nil && old.IsDir() {
		if _, err := d.PutAside(Backup(name)); err != nil {
			return keep, err
		}
	}
	if !fi.Mode().IsRegular() {
		return keep, d.Copy(name, Backup(name), sync)
	}
	keep.As = Backup(name)
	keep.Was = func(fi fs.FileInfo) bool { return was == Stamp{} || d.stamp(fi).SameContent(was) }
	return keep, nil
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
