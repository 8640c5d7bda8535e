package commit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// Replace gives the file new content. When it fails before the names change,
// main is as it was and no temporary file stays.
//
// The error Is [ErrOvertaken] or [ErrOverwritten] when a writer that honours no
// lock came between.
func (f File) Replace(r Replacement) (Result, error) {
	done, err := f.replace(r)
	if err != nil {
		return Result{}, fmt.Errorf("replace %s: %w", f.Name, err)
	}
	return done, nil
}

func (f File) replace(r Replacement) (done Result, err error) {
	f.Sync = f.Sync && !r.Relaxed
	next, err := f.Dir.Prepare(f.Name, f.Sync, r.Time, r.Write)
	if err != nil {
		return Result{}, err
	}
	defer func() {
		if err != nil {
			next.Discard()
		}
		err = errors.Join(err, next.Close())
	}()
	rotates, err := r.Rotate()
	if err != nil {
		return Result{}, err
	}
	fi, err := f.Dir.Root().Lstat(f.Name)
	switch {
	case !rotates || errors.Is(err, fs.ErrNotExist):
		done.Main, err = rename(f.Dir, next, f.Name)
		return done, err
	case err != nil:
		return Result{}, err
	case !fi.Mode().IsRegular():
		return f.copyAndRename(next, sessiondir.Stamp{})
	case r.Was == sessiondir.Stamp{}:
		r.Was = f.Dir.StampIn(fi)
	}
	return f.rotate(next, r.Was)
}

// rotate makes next main, and main the backup.
func (f File) rotate(next *vfs.Pending, was sessiondir.Stamp) (Result, error) {
	if err := f.clearBackup(); err != nil {
		return Result{}, err
	}
	done, err := f.exchangeNew(next, was)
	if errors.Is(err, vfs.ErrOpen) || errors.Is(err, vfs.ErrNoLease) || errors.Is(err, errNoExchange) {
		return f.copyAndRename(next, was)
	}
	return done, err
}

// clearBackup puts a directory aside that has the name of the backup: no file could take
// its name.
func (f File) clearBackup() error {
	fi, err := f.Dir.Root().Lstat(f.backup())
	if err != nil || !fi.IsDir() {
		return nil
	}
	_, err = f.Dir.Quarantine(f.backup())
	return err
}

// exchangeNew goes by way of the state "ready". The error Is [vfs.ErrOpen], [vfs.ErrNoLease] or
// errNoExchange, and next has its temporary name, if this is not possible.
func (f File) exchangeNew(next *vfs.Pending, was sessiondir.Stamp) (Result, error) {
	if !f.Dir.Exchanges() {
		return Result{}, errNoExchange
	}
	former := "" // the temporary name of the former backup
	defer func() { f.discard(former) }()
	n, err := f.lease(next.File(), next.Name())
	if err != nil {
		return Result{}, err
	}
	defer n.release()
	m, err := f.leaseMain(was, n)
	if err != nil {
		return Result{}, err
	}
	defer m.close()
	if err := f.ready(next); err != nil {
		return Result{}, err
	}
	if err := f.exchange(m); err != nil {
		if failed := f.unready(next); errors.Is(failed, fs.ErrNotExist) { // another program removed next, by the name of the backup
			return Result{}, fmt.Errorf("%w: %w", ErrOvertaken, failed)
		} else if failed != nil { // the way without exchange needs the names as they were
			return Result{}, fmt.Errorf("take the name of the backup back after %v: %w", err, failed)
		}
		return Result{}, err
	}
	if next.Name() != f.backup() {
		former = next.Name()
		next.Named(f.Name)
	}
	return f.settle(n, m)
}

// discard removes a temporary file, if there is one, with a second try: a full disk may
// refuse the first. A file that stays is swept later, by its name. discard waits while
// the system writes the file to the disk, so no lease may be held.
func (f File) discard(name string) {
	if name != "" && f.Dir.Remove(name) != nil {
		_ = f.Dir.Remove(name)
	}
}

// ready gives next the name of the backup. The former backup, if there is one,
// gets the temporary name.
func (f File) ready(next *vfs.Pending) error {
	err := f.Dir.Exchange(next.Name(), f.backup())
	if errors.Is(err, fs.ErrNotExist) {
		return next.Rename(f.backup())
	}
	if err != nil {
		f.Dir.NoExchange(err)
		return fmt.Errorf("%w: %w", errNoExchange, err)
	}
	return nil
}

// unready undoes ready: next has its temporary name again. Where names cannot be
// exchanged any more, next takes the name from the former backup, which is lost: main is
// whole, and the next backup is a copy of it.
func (f File) unready(next *vfs.Pending) error {
	former := next.Name()
	if former != f.backup() {
		if f.Dir.Exchange(former, f.backup()) == nil {
			return nil
		}
		next.Named(f.backup())
	}
	err := next.Unname()
	if errors.Is(err, fs.ErrNotExist) {
		next.Named(former) // to be discarded, if it has a temporary name
	}
	return err
}

// copyAndRename goes by way of the state "copied". A zero was means that main is no plain
// file.
func (f File) copyAndRename(next *vfs.Pending, was sessiondir.Stamp) (Result, error) {
	backup, err := f.copyMain(was)
	if err != nil {
		return Result{}, err
	}
	if err := f.unchanged(was); err != nil {
		backup.Discard()
		return Result{}, err
	}
	done := Result{}
	if done.Backup, err = rename(f.Dir, backup, f.backup()); err != nil {
		return Result{}, err
	}
	if err := f.unchanged(was); err != nil {
		return Result{}, err
	}
	done.Main, err = rename(f.Dir, next, f.Name)
	return done, err
}

// copyMain prepares a complete copy of main for the name of the backup.
func (f File) copyMain(was sessiondir.Stamp) (*vfs.Pending, error) {
	src, err := f.Dir.OpenRead(f.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrOvertaken, err)
	}
	if err != nil {
		return nil, err
	}
	at, err := f.Dir.StampOf(src)
	if err == nil && was != (sessiondir.Stamp{}) && !at.SameContent(was) {
		err = ErrOvertaken
	}
	var p *vfs.Pending
	if err == nil {
		p, err = f.copyOf(src, at, f.backup())
	}
	if errors.Is(err, errAltered) {
		err = fmt.Errorf("%w: %w", ErrOvertaken, err)
	}
	if err := errors.Join(err, src.Close()); err != nil {
		if p != nil {
			p.Discard()
		}
		return nil, fmt.Errorf("back up %s: %w", f.Name, err)
	}
	return p, nil
}

var errAltered = errors.New("the file is not what was written")

// copyOf prepares a complete copy of the open file src, to be called name. The
// error Is errAltered when src has no longer the stamp at.
func (f File) copyOf(src *os.File, at sessiondir.Stamp, name string) (*vfs.Pending, error) {
	p, err := f.Dir.Prepare(name, f.Sync, at.Mtime, func(out io.Writer) error {
		_, err := io.CopyN(out, io.NewSectionReader(src, 0, at.Size), at.Size)
		if errors.Is(err, io.EOF) {
			err = errAltered
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if now, err := f.Dir.StampOf(src); err != nil || !now.SameContent(at) {
		p.Discard()
		return nil, errors.Join(err, errAltered)
	}
	return p, nil
}

// rename gives p the name, closes it and returns its stamp. The error Is [ErrOvertaken]
// when the name already belongs to another file.
func rename(d *sessiondir.Dir, p *vfs.Pending, name string) (sessiondir.Stamp, error) {
	mine, err := d.StampOf(p.File())
	if err == nil {
		err = p.Rename(name)
	}
	if err != nil {
		p.Discard()
		return sessiondir.Stamp{}, err
	}
	now, err := d.Stat(name)
	if err == nil && !(now.SameFile(mine) || mine.Inode == 0) || errors.Is(err, fs.ErrNotExist) {
		err = ErrOvertaken
	}
	return now, errors.Join(err, p.Close())
}
