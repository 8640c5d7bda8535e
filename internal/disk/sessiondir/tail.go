package sessiondir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
)

// A Tail describes the end of an append-only log, a file of lines, after a read or a
// write. The zero Tail describes a missing log.
type Tail struct {
	Whole int64 // size of the lines that were written whole; later bytes were never acknowledged
	Open  bool  // the last of them lacks its LF
	File  Stamp // of the log

	at  time.Time // when the stamp was taken
	set time.Time // the time that the log was given
}

// ReadLog reads the log name by [jsonl.Log], of which parse and damaged are. A missing
// log is empty. A symlink is refused: it could lead to another file of the session.
func (d *Dir) ReadLog(name string, parse func(jsonl.Line) bool, damaged func(jsonl.Line)) (Tail, error) {
	if _, err := d.plain(name); errors.Is(err, fs.ErrNotExist) {
		return Tail{}, nil
	} else if err != nil {
		return Tail{}, err
	}
	t := Tail{at: time.Now()}
	data, at, err := d.Read(name)
	if err != nil {
		return Tail{}, err
	}
	t.File = at
	t.Whole, t.Open = jsonl.Log(data, parse, damaged)
	return t, nil
}

// OpenLog opens the log name to read it a line at a time. The tail has no lines yet. A symlink
// is refused, as by ReadLog.
func (d *Dir) OpenLog(name string) (io.ReadSeekCloser, Tail, error) {
	if _, err := d.plain(name); err != nil {
		return nil, Tail{}, err
	}
	t := Tail{at: time.Now()}
	f, at, err := d.Open(name)
	t.File = at
	return f, t, err
}

// Knows reports whether the log name is unchanged since t was read or written.
func (d *Dir) Knows(name string, t Tail) bool {
	now, err := d.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return t.File == Stamp{}
	}
	return err == nil && now.Same(t.File) && (now.Mtime.Equal(t.set) || d.Settled(now, t.at))
}

// AppendLog adds whole lines to the log name, whose tail the caller, its only writer,
// knows, and returns the new tail. The log is made when there is none. Bytes that were
// never acknowledged are cut off first. With sync the lines are durable, but not the name
// of a new log, and a power cut in between leaves the first lines. When AppendLog fails,
// the log has its former end, as far as that is possible. The error Is [ErrOvertaken],
// and nothing was written, when the log has another tail.
func (d *Dir) AppendLog(name string, t Tail, lines []byte, sync bool) (Tail, error) {
	_, err := d.plain(name)
	switch missing := errors.Is(err, fs.ErrNotExist); {
	case missing && t.File == (Stamp{}):
		t.File, err = d.makeLog(name)
	case missing:
		err = ErrOvertaken
	}
	if err != nil {
		return Tail{}, err
	}
	e, err := d.Edit(name)
	if err != nil {
		return Tail{}, err
	}
	w := logWriter{dir: d, name: name, file: e, sync: sync, was: t}
	fi, err := e.File().Stat()
	switch {
	case err != nil:
	case !d.StampIn(fi).SameContent(t.File):
		err = ErrOvertaken
	default:
		err = w.add(lines)
	}
	var next Tail
	if err == nil {
		next, err = w.tail()
	}
	return next, errors.Join(err, e.Close())
}

// makeLog makes an empty log, which must not exist, and returns its stamp.
func (d *Dir) makeLog(name string) (Stamp, error) {
	a, made, err := d.Append(name)
	if err != nil {
		return Stamp{}, err
	}
	fi, err := a.File().Stat()
	if err == nil && !made {
		err = ErrOvertaken
	}
	if err := errors.Join(err, a.Close()); err != nil {
		return Stamp{}, err
	}
	return d.StampIn(fi), nil
}

// logWriter is one call of [Dir.AppendLog].
type logWriter struct {
	dir  *Dir
	name string
	file *vfs.Edit // an Append cannot be truncated on every system
	sync bool
	was  Tail
	size int64     // of the log so far
	set  time.Time // the time that the log is given
}

func (w *logWriter) add(lines []byte) error {
	w.size = w.was.Whole
	if w.was.File.Size > w.size {
		err := w.file.Truncate(w.size)
		if err == nil && w.sync { // else the disk might mix the removed bytes with the new ones
			err = w.file.Sync()
		}
		if err != nil {
			return fmt.Errorf("remove incomplete line: %w", err)
		}
	}
	if w.was.Open {
		lines = append([]byte{'\n'}, lines...)
	}
	for len(lines) > 0 {
		n := len(lines)
		if w.sync {
			n = piece(lines, w.size)
		}
		if err := w.write(lines[:n], n == len(lines)); err != nil {
			return errors.Join(err, w.file.Truncate(w.was.Whole))
		}
		lines = lines[n:]
	}
	return nil
}

func (w *logWriter) write(piece []byte, last bool) error {
	if err := w.file.WriteAt(piece, w.size); err != nil {
		return err
	}
	w.size += int64(len(piece))
	if last {
		w.set = vfs.Now(w.was.File.Mtime)
		// Not every owner and file system allows this; then the log is read again.
		_ = w.dir.SetTime(w.name, w.set)
	}
	if !w.sync {
		return nil
	}
	return w.file.Sync()
}

// tail returns the tail of the log after the write.
func (w *logWriter) tail() (Tail, error) {
	fi, err := w.file.File().Stat()
	if err != nil {
		return Tail{}, err
	}
	t := Tail{Whole: w.size, File: w.dir.StampIn(fi), at: time.Now(), set: w.set}
	if t.File.Size != t.Whole {
		return Tail{}, ErrOvertaken
	}
	return t, nil
}

// sector is the size of the unit that a disk writes whole.
const sector = 512

// piece returns the size of the lines to write next, at the offset at, so that they are
// torn at their end only: one line, or several in one sector. The missing LF of the line
// before counts as a line: it is never written with a line of several sectors, whose end
// may reach the disk before the LF.
func piece(lines []byte, at int64) int {
	first := bytes.IndexByte(lines, '\n') + 1
	room := min(sector-int(at%sector), len(lines))
	if first >= room {
		return first
	}
	return bytes.LastIndexByte(lines[:room], '\n') + 1
}

// plain returns the file info of name. It fails when name is no plain file, or a symlink.
func (d *Dir) plain(name string) (fs.FileInfo, error) {
	fi, err := d.Root().Lstat(name)
	if err == nil && !fi.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: vfs.ErrNotRegular}
	}
	return fi, err
}
