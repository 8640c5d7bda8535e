package workflow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/filelock"
	"github.com/amplifier-go/sessionstorage/internal/ownership"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// file is a log of a session whose lock is held.
type file struct {
	base *sessiondir.Base
	dir  *sessiondir.Dir
	name string
	data []byte
	made bool // there is one
}

var errNotPlain = errors.New("not a regular file")

// read returns the content of a log, nothing when there is none, and its path.
func (l *Log) read(id, name string) (data []byte, path string, err error) {
	base, err := sessiondir.Open(l.store.Dir(), l.seam)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, base.Close()) }()
	dir, err := base.Dir(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	f := file{dir: dir, name: name}
	err = f.load()
	return f.data, dir.Path(name), err
}

// change runs do as the only writer of session id.
func (l *Log) change(ctx context.Context, id, name string, do func(*file) error) (err error) {
	base, err := sessiondir.Open(l.store.Dir(), l.seam)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, base.Close()) }()
	lock, err := base.Lock(ctx, id)
	if errors.Is(err, filelock.ErrBusy) && ctx.Err() == nil {
		return fmt.Errorf("%w: %w", sessionstore.ErrLocked, err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	dir, err := base.Dir(id)
	if errors.Is(err, fs.ErrNotExist) {
		return notFound(id)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	fenced, err := ownership.HasFence(dir.Root())
	if fenced || err != nil {
		return errors.Join(sessionstore.ErrFenced, err)
	}
	f := &file{base: base, dir: dir, name: name}
	if err := f.load(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return do(f)
}

// load reads the log. A symlink is refused: it could lead to another file of
// the session.
func (f *file) load() error {
	fi, err := f.dir.Root().Lstat(f.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() {
		return &fs.PathError{Op: "read", Path: f.name, Err: errNotPlain}
	}
	f.data, _, err = f.dir.Read(f.name)
	f.made = err == nil
	return err
}

// append adds a line behind the first whole bytes of the log, which lack an LF
// when open is set, and makes it durable. What stands behind them was never
// acknowledged and is removed.
func (f *file) append(line []byte, whole int64, open bool) error {
	if err := f.write(line, whole, open); err != nil {
		return err
	}
	// Who made the names may have been killed before they were durable.
	if err := f.dir.Sync(); err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	if err := f.base.Sync(); err != nil {
		return fmt.Errorf("sync sessions directory: %w", err)
	}
	return nil
}

func (f *file) write(line []byte, whole int64, open bool) (err error) {
	if !f.made {
		return f.dir.Replace(f.name, true, time.Now(), func(w io.Writer) error {
			_, err := w.Write(line)
			return err
		})
	}
	edit, err := f.dir.Edit(f.name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, edit.Close()) }()
	if open {
		line = append([]byte{'\n'}, line...)
	}
	if whole < int64(len(f.data)) {
		if err := edit.Truncate(whole); err != nil {
			return fmt.Errorf("remove incomplete line: %w", err)
		}
	}
	err = edit.WriteAt(line, whole)
	if err == nil {
		err = edit.Sync()
	}
	if err != nil {
		return errors.Join(err, edit.Truncate(whole))
	}
	return nil
}
