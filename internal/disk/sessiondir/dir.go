package sessiondir

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
)

// Marker is the file that exists while a newer Python tool appends to the transcript, or
// after it was killed during an append: until the file is gone, the backup is the
// transcript.
const Marker = Transcript + ".append-pending"

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
	*vfs.Dir
	path   string  // its present or future path
	staged *staged // nil: the session existed already
	Place  Stamp   // of the directory itself, if [Base.ForWrite] opened it

	noExchange *atomic.Bool // of the Base
	emptied    emptied      // the record that the transcript was emptied on purpose
	local      struct {
		once sync.Once
		is   bool
	}
}

// Path returns the path of the file name, for display.
func (d *Dir) Path(name string) string { return filepath.Join(d.path, name) }

// Removed reports whether the directory was removed, or moved away, since it was opened.
func (d *Dir) Removed() bool {
	if d.staged != nil {
		return false
	}
	now, err := os.Stat(d.path)
	is, failed := d.Root().Stat(".")
	return errors.Is(err, fs.ErrNotExist) || err == nil && failed == nil && !os.SameFile(is, now)
}

// Open opens the file name for reading. A directory in its place is an error,
// and so is a pipe, for which it does not wait.
func (d *Dir) Open(name string) (io.ReadSeekCloser, Stamp, error) {
	f, fi, err := vfs.Open(d.Root(), name, os.O_RDONLY)
	if err != nil {
		return nil, Stamp{}, err
	}
	return f, d.StampIn(fi), nil
}

// rereads is the number of times that a file is read again because it changed during the
// read.
const rereads = 10

// Read returns the content of the file name and the stamp that it had before it was read.
// It reads again if the file is written or replaced during the read: an old file may be
// emptied at that time.
func (d *Dir) Read(name string) (data []byte, at Stamp, err error) {
	return d.ReadUntil(context.Background(), name)
}

// ReadUntil is Read that fails when ctx ends while a large file is read.
func (d *Dir) ReadUntil(ctx context.Context, name string) (data []byte, at Stamp, err error) {
	for range rereads {
		steady := false
		if data, at, steady, err = d.readOnce(ctx, name); err != nil || steady {
			break
		}
	}
	return data, at, err
}

func (d *Dir) readOnce(ctx context.Context, name string) (data []byte, at Stamp, steady bool, err error) {
	f, at, err := d.Open(name)
	if err != nil {
		return nil, Stamp{}, false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := limits.Check(at.Size); err != nil {
		return nil, at, false, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	data = make([]byte, at.Size, at.Size+1)
	n, err := fillShared(ctx, f, data)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return data[:n], at, at.Size == 0 && d.leadsTo(name, at), nil
	}
	if err != nil {
		return nil, at, false, err
	}
	rest, err := limits.ReadAll(f)
	if err == nil {
		err = limits.Check(at.Size + int64(len(rest)))
	}
	if err != nil {
		return nil, at, false, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return append(data, rest...), at, d.leadsTo(name, at), nil
}

// halves is the least size of a file whose halves are read at the same time, and atOnce the
// number of bytes that are read of such a file between two looks at the context.
const (
	halves = 4 << 20
	atOnce = 1 << 20
)

// fillShared is fill, but waits while another program has locked the file.
func fillShared(ctx context.Context, f io.ReadSeeker, data []byte) (n int, err error) {
	tries := 0
	err = vfs.WhenFree(func() error {
		if tries++; tries > 1 {
			if _, err := f.Seek(0, io.SeekStart); err != nil {
				return err
			}
		}
		n, err = fill(ctx, f, data)
		return err
	})
	return n, err
}

// fill reads as much as data has room for, as [io.ReadFull] does.
func fill(ctx context.Context, f io.ReadSeeker, data []byte) (int, error) {
	at, ok := f.(io.ReaderAt)
	if !ok || len(data) < halves || runtime.GOMAXPROCS(0) < 2 {
		return io.ReadFull(f, data)
	}
	read := func(from, to int) (n int) {
		for n = from; n < to && ctx.Err() == nil; {
			more, err := at.ReadAt(data[n:min(n+atOnce, to)], int64(n))
			if n += more; err != nil {
				break
			}
		}
		return n - from
	}
	half := len(data) / 2
	var first, second int
	var wait sync.WaitGroup
	wait.Go(func() { second = read(half, len(data)) })
	first = read(0, half)
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if first+second < len(data) { // it is read again to find its end
		return io.ReadFull(f, data)
	}
	_, err := f.Seek(int64(len(data)), io.SeekStart)
	return len(data), err
}

// leadsTo reports whether name is the file with the stamp at, unchanged.
func (d *Dir) leadsTo(name string, at Stamp) bool {
	fi, err := d.Root().Stat(name)
	return err == nil && d.StampIn(fi).SameContent(at)
}

// QuarantineName returns the name under which the damaged file name is kept: name,
// ".damaged-", and the UTC time of its last change; with a number if there is such a file
// already.
func (d *Dir) QuarantineName(name string) string {
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

// Quarantine renames the file or directory name to [Dir.QuarantineName] and returns
// that name.
func (d *Dir) Quarantine(name string) (string, error) {
	aside := d.QuarantineName(name)
	return aside, d.Rename(name, aside)
}

// Names returns the names in the directory, in the directory's order.
func (d *Dir) Names() ([]string, error) { return d.NamesIn(".") }

// ErrOvertaken is returned when another writer, which honours no lock, changed the file
// while this one wrote.
var ErrOvertaken = vfs.ErrOvertaken

// QuarantineLinked gives the file name the second name [Dir.QuarantineName], or makes a copy of
// that name where a file cannot have two, and returns it. What is not a file is renamed.
func (d *Dir) QuarantineLinked(name string) (string, error) {
	aside := d.QuarantineName(name)
	err := d.Link(name, aside)
	if err != nil {
		err = d.Copy(name, aside, true)
	}
	if errors.Is(err, vfs.ErrNotRegular) {
		err = d.Rename(name, aside)
	}
	return aside, err
}

// Stamp identifies a file and its state.
type Stamp = vfs.Stamp

// Local reports whether the directory is on a local file system, so that the
// kernel knows every program that has one of its files open.
func (d *Dir) Local() bool {
	d.local.once.Do(func() {
		in, err := d.Handle()
		d.local.is = err == nil && vfs.IsLocal(in)
	})
	return d.local.is
}

// Exchanges reports whether an exchange of names is worth a try.
func (d *Dir) Exchanges() bool { return d.Local() && !d.noExchange.Load() }

// NoExchange notes that an exchange of names failed with err. No other exchange is tried
// in this sessions directory if err means that its file system has none. Any other error
// may concern only this file at this moment.
func (d *Dir) NoExchange(err error) {
	if errors.Is(err, errors.ErrUnsupported) {
		d.noExchange.Store(true)
	}
}
