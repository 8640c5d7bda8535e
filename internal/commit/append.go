package commit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// Addition is what [File.Append] adds to main, and what the caller knows of it.
type Addition struct {
	Main   sessiondir.Stamp // of main, whose content the caller knows
	Backup sessiondir.Stamp // of a backup that main is known to begin with; zero: not known
	End    []byte           // the last bytes of main, as far as the caller has them: they are not read then
	Lines  []byte           // whole lines
	Time   time.Time        // the time of the last change that the file is given
}

// Append adds whole lines to main, in the time that the lines take. The error
// Is [ErrRewrite] when the backup is not a beginning of main, when it has other
// names, or when another program has one of both open.
//
// The error Is [ErrOvertaken] or [ErrOverwritten] when a writer that honours no
// lock came between.
func (f File) Append(a Addition) (done Result, err error) {
	if !f.Dir.Exchanges() {
		return Result{}, fmt.Errorf("%w: %w", ErrRewrite, errNoExchange)
	}
	file, err := f.Dir.Edit(f.backup())
	if err != nil {
		return Result{}, fmt.Errorf("%w: %w", ErrRewrite, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	next, err := f.lease(file.File(), f.backup())
	if err != nil {
		return Result{}, fmt.Errorf("%w: %w", ErrRewrite, err)
	}
	defer next.release()
	if err := f.reusable(next, a.Main); err != nil {
		return Result{}, err
	}
	if err := f.extend(file, next, a); err != nil {
		return Result{}, err
	}
	main, err := f.leaseMain(a.Main, next)
	if errors.Is(err, errInUse) || errors.Is(err, errNoLease) {
		return Result{}, fmt.Errorf("%w: %w", ErrRewrite, err)
	}
	if err != nil {
		return Result{}, err
	}
	defer main.close()
	if next.state() == writerWaits {
		return Result{}, fmt.Errorf("%w: %w", ErrRewrite, errInUse)
	}
	if err := f.exchange(main); errors.Is(err, errNoExchange) {
		return Result{}, fmt.Errorf("%w: %w", ErrRewrite, err)
	} else if err != nil {
		return Result{}, err
	}
	return f.settle(next, main)
}

// reusable tells why the backup may not become main.
func (f File) reusable(backup *leased, main sessiondir.Stamp) error {
	switch {
	case !backup.own:
		return fmt.Errorf("%w: the backup has other names", ErrRewrite)
	case backup.at.SameFile(main):
		return fmt.Errorf("%w: the backup is the file itself", ErrRewrite)
	}
	return nil
}

// extend gives the backup what it lacks of main, and the lines.
func (f File) extend(file *atomicfile.Edit, next *leased, a Addition) error {
	missing, err := f.missing(next, a)
	if err != nil {
		return err
	}
	common := a.Main.Size - int64(len(missing))
	if common != next.at.Size {
		if err := file.Truncate(common); err != nil {
			return err
		}
	}
	if err := file.WriteAt(slices.Concat(missing, a.Lines), common); err != nil {
		// On a full disk a part may stand there: half a line, which no backup may end in.
		return errors.Join(fmt.Errorf("extend backup: %w", err), file.Truncate(common))
	}
	if err := file.SetTime(a.Time); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: the backup was removed", ErrRewrite)
	} else if err != nil {
		return fmt.Errorf("set time of backup: %w", err)
	}
	if !f.Sync {
		file.BeginSync(common)
	} else if err := file.Sync(); err != nil {
		// What a sync failed to write, later ones take for written.
		return errors.Join(err, f.Dir.Remove(f.backup()))
	}
	next.at, err = f.Dir.StampOf(next.file)
	if err == nil && next.at.Size != a.Main.Size+int64(len(a.Lines)) {
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
