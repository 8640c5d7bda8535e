package commit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// Addition holds the lines that [File.Append] adds to main, and the caller's knowledge of
// main.
type Addition struct {
	Main   sessiondir.Stamp // of main, whose content the caller knows
	Backup sessiondir.Stamp // of a backup that main is known to begin with; zero: not known
	End    []byte           // the last bytes of main, as far as the caller has them: they are not read then
	Lines  []byte           // whole lines
	Time   time.Time        // the time of the last change that the file is given
}

// Append adds whole lines to main, in the time that the lines take. The error Is
// [ErrRewrite] when the backup is not a beginning of main, when it has other names, or
// when another program has main or the backup open.
//
// The error Is [ErrOvertaken] or [ErrOverwritten] when a writer that honours no
// lock came between.
func (f File) Append(a Addition) (done Result, err error) {
	next, err := f.leaseBackup(a.Main)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, next.discard()) }()
	if err := f.extend(next, a); err != nil {
		return Result{}, err
	}
	return f.takeName(next, a.Main)
}

// nextMain is the backup, open to become main. No other program has it open.
type nextMain struct {
	*leased
	edit *vfs.Edit
}

// leaseBackup opens the backup of the file with the stamp main, to become main. The
// caller must discard it.
func (f File) leaseBackup(main sessiondir.Stamp) (*nextMain, error) {
	if !f.Dir.Exchanges() {
		return nil, fmt.Errorf("%w: %w", ErrRewrite, errNoExchange)
	}
	file, err := f.Dir.Edit(f.backup())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRewrite, err)
	}
	next, err := f.lease(file.File(), f.backup())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrRewrite, err), file.Close())
	}
	n := &nextMain{next, file}
	switch {
	case !n.own:
		return nil, errors.Join(fmt.Errorf("%w: the backup has other names", ErrRewrite), n.discard())
	case n.at.SameFile(main):
		return nil, errors.Join(fmt.Errorf("%w: the backup is the file itself", ErrRewrite), n.discard())
	}
	return n, nil
}

// discard gives the lease up and closes the file.
func (n *nextMain) discard() error {
	n.release()
	return n.edit.Close()
}

// takeName gives next, which is complete, the name of the file with the stamp main,
// and that file the name of the backup.
func (f File) takeName(next *nextMain, was sessiondir.Stamp) (Result, error) {
	main, err := f.leaseMain(was, next.leased)
	if errors.Is(err, vfs.ErrOpen) || errors.Is(err, vfs.ErrNoLease) {
		return Result{}, fmt.Errorf("%w: %w", ErrRewrite, err)
	}
	if err != nil {
		return Result{}, err
	}
	defer main.close()
	if vfs.LeaseOf(next.file) == vfs.WriterWaits {
		return Result{}, fmt.Errorf("%w: %w", ErrRewrite, vfs.ErrOpen)
	}
	if err := f.exchange(main); errors.Is(err, errNoExchange) {
		return Result{}, fmt.Errorf("%w: %w", ErrRewrite, err)
	} else if err != nil {
		return Result{}, err
	}
	return f.settle(next.leased, main)
}

// extend brings the backup up to date with main and appends a.Lines.
func (f File) extend(next *nextMain, a Addition) error {
	missing, err := f.missing(next.leased, a)
	if err != nil {
		return err
	}
	common := a.Main.Size - int64(len(missing))
	if common != next.at.Size {
		if err := next.edit.Truncate(common); err != nil {
			return err
		}
	}
	if err := next.edit.WriteAt(slices.Concat(missing, a.Lines), common); err != nil {
		// On a full disk a part may be written: half a line, which must not be the end of
		// a backup.
		return errors.Join(fmt.Errorf("extend backup: %w", err), next.edit.Truncate(common))
	}
	if err := f.beginSync(next, common, a.Time); err != nil {
		return err
	}
	return f.complete(next, a.Main.Size+int64(len(a.Lines)))
}

// beginSync gives the backup, which was written from off on, its time. The system
// begins to write it.
func (f File) beginSync(next *nextMain, off int64, at time.Time) error {
	if err := f.Dir.SetTime(f.backup(), at); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: the backup was removed", ErrRewrite)
	} else if err != nil {
		return fmt.Errorf("set time of backup: %w", err)
	}
	if !f.Sync {
		next.edit.BeginSync(off)
	}
	return nil
}

// complete makes the backup durable if f.Sync is set, and takes its stamp.
func (f File) complete(next *nextMain, size int64) (err error) {
	if f.Sync {
		if err := next.edit.Sync(); err != nil {
			// Later syncs regard content that a failed sync did not write as written.
			return errors.Join(err, f.Dir.Remove(f.backup()))
		}
	}
	next.at, err = f.Dir.StampOf(next.file)
	if err == nil && next.at.Size != size {
		err = fmt.Errorf("%w: the lease on the backup expired", ErrRewrite)
	}
	return err
}

// missing returns the end of main that the backup lacks.
func (f File) missing(next *leased, a Addition) (missing []byte, err error) {
	size := next.at.Size
	if lacks := a.Main.Size - size; next.at.Same(a.Backup) && lacks >= 0 && lacks <= int64(len(a.End)) {
		return a.End[int64(len(a.End))-lacks:], nil
	}
	src, err := f.Dir.OpenPlain(f.Name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRewrite, err)
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	if at, err := f.Dir.StampOf(src); err != nil || !at.Same(a.Main) {
		return nil, errors.Join(ErrOvertaken, err)
	}
	if !next.at.Same(a.Backup) {
		if size, err = commonLines(src, next.file, a.Main.Size, size); err != nil {
			return nil, err
		}
	}
	missing = make([]byte, a.Main.Size-size)
	if _, err := src.ReadAt(missing, size); errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: %w", ErrOvertaken, err)
	} else if err != nil {
		return nil, fmt.Errorf("read end of file: %w", err)
	}
	return missing, nil
}

// commonLines returns the size of the whole lines that both files begin with,
// if one of them is the beginning of the other.
func commonLines(main, backup io.ReaderAt, mainSize, backupSize int64) (int64, error) {
	common := min(mainSize, backupSize)
	a, b := make([]byte, 256<<10), make([]byte, 256<<10)
	lines := int64(0)
	for off := int64(0); off < common; {
		n := int(min(common-off, int64(len(a))))
		if _, err := main.ReadAt(a[:n], off); errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("%w: %w", ErrOvertaken, err)
		} else if err != nil {
			return 0, err
		}
		if _, err := backup.ReadAt(b[:n], off); err != nil {
			return 0, fmt.Errorf("%w: %w", ErrRewrite, err)
		}
		if !bytes.Equal(a[:n], b[:n]) {
			return 0, fmt.Errorf("%w: the backup differs from the file", ErrRewrite)
		}
		if i := bytes.LastIndexByte(a[:n], '\n'); i >= 0 {
			lines = off + int64(i) + 1
		}
		off += int64(n)
	}
	return lines, nil
}

// sector is the size of the unit that a disk writes whole.
const sector = 512

// An Amendment is a backup that has the next content of main and waits for the name. No
// other program opens it until Discard, which ends every Amendment.
type Amendment struct {
	of   File
	main sessiondir.Stamp
	next *nextMain
}

// Amend gives the backup the next content of main, if the two differ only in bytes of one
// sector. The new bytes are written over the old ones, so that the backup is a whole file
// at each instant, also after a power cut, and no file is made. The sync runs until
// Commit. The error Is [ErrRewrite] if the backup is no such file, or another program has
// it open.
func (f File) Amend(main sessiondir.Stamp, content []byte, at time.Time) (*Amendment, error) {
	next, err := f.leaseBackup(main)
	if err != nil {
		return nil, err
	}
	a := &Amendment{f, main, next}
	if err := a.write(content, at); err != nil {
		a.Discard()
		return nil, err
	}
	return a, nil
}

// write writes over the bytes in which the backup differs from content.
func (a *Amendment) write(content []byte, at time.Time) error {
	if a.next.at.Size != int64(len(content)) || a.next.mode != vfs.Mode {
		return fmt.Errorf("%w: the backup has another size or mode", ErrRewrite)
	}
	if named, err := a.of.Dir.Stat(a.of.backup()); err != nil || !named.SameFile(a.next.at) {
		return fmt.Errorf("%w: the backup is a link, or another file by now", ErrRewrite)
	}
	old := make([]byte, len(content))
	if _, err := a.next.file.ReadAt(old, 0); err != nil {
		return fmt.Errorf("%w: %w", ErrRewrite, err)
	}
	from, to := 0, len(content)
	for from < to && old[from] == content[from] {
		from++
	}
	for from < to && old[to-1] == content[to-1] {
		to--
	}
	if from < to && from/sector != (to-1)/sector {
		return fmt.Errorf("%w: the backup differs from the file", ErrRewrite)
	}
	if err := a.next.edit.WriteAt(content[from:to], int64(from)); err != nil {
		return fmt.Errorf("amend backup: %w", err)
	}
	if err := a.of.beginSync(a.next, int64(from), at); err != nil {
		return err
	}
	if a.of.Sync {
		a.next.edit.StartSync()
	}
	return nil
}

// Commit exchanges the names: the backup becomes main, and main the backup. The errors
// are the same as of [File.Append].
func (a *Amendment) Commit() (Result, error) {
	if err := a.of.complete(a.next, a.next.at.Size); err != nil {
		return Result{}, err
	}
	return a.of.takeName(a.next, a.main)
}

// Discard lets other programs open the backup. Without Commit before, the backup keeps
// its new content; main is as it was.
func (a *Amendment) Discard() { _ = a.next.discard() }
