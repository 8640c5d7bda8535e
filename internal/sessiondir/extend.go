package sessiondir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
)

// ErrRewrite tells that a file cannot be extended in the place of its backup
// and has to be written anew.
var ErrRewrite = errors.New("file must be rewritten")

// ErrOvertaken tells that another writer, one that honours no lock, changed
// the file while this one wrote.
var ErrOvertaken = atomicfile.ErrOvertaken

// ErrOverwritten tells that another writer took the file for the backup that
// it had been, and wrote into it.
var ErrOverwritten = errors.New("another writer wrote into the file")

// Extension is what [Dir.Extend] appends to a file, and how.
type Extension struct {
	Main   Stamp // of the file; the caller knows its content
	Backup Stamp // of its backup where the caller knows that it is the beginning of the file; zero otherwise
	Tail   []byte
	Sync   bool // sync the content before it takes its name
	Mark   bool // mark it as whole, since the directory will not be synced
}

// Extended is what [Dir.Extend] leaves.
type Extended struct {
	Main, Backup Stamp
	Timed        bool // the file has the time that was set
	Marked       bool // and that is a mark
}

// Extend appends Tail, whole lines, to the file name, in the time that the
// tail takes. Not the file itself is written but its backup, which is one
// save behind: it gets what it lacks and the tail in one write, and then both
// swap names. So name is whole at every instant, and its backup is the state
// before.
//
// The error Is [ErrRewrite], and nothing has changed, when the backup is not
// a file of its own that the file begins with, or when a reader may still
// have it open under the other name. It Is [ErrOvertaken] when another writer,
// who honours no lock, gave the name to a file of its own meanwhile: that has
// the name then, and is to be read before anything is written. It Is
// [ErrOverwritten] when the content must be written anew from memory, at once.
func (d *Dir) Extend(name string, e Extension) (done Extended, err error) {
	edit, err := d.Edit(Backup(name))
	if err != nil {
		return done, fmt.Errorf("%w: %w", ErrRewrite, err)
	}
	defer func() { err = errors.Join(err, edit.Close()) }()
	at, err := d.reusable(edit.File(), e)
	if err != nil {
		return done, err
	}
	size := at.Size
	src, err := d.OpenPlain(name)
	if err != nil {
		return done, fmt.Errorf("%w: %w", ErrRewrite, err)
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	if fi, err := src.Stat(); err != nil || !d.stamp(fi).Same(e.Main) {
		return done, fmt.Errorf("%w: %w", ErrOvertaken, errors.Join(err, errChanged))
	}
	if !at.Same(e.Backup) {
		if size, err = d.commonLines(src, edit.File(), e.Main.Size, at.Size); err != nil {
			return done, cutShort(err)
		}
	}
	set, err := d.catchUp(name, edit, src, size, at.Size, e)
	if err != nil {
		return done, cutShort(err)
	}
	if opened(edit.File()) {
		return done, fmt.Errorf("%w: another program opened the backup", ErrRewrite)
	}
	err = d.Exchange(name, Backup(name))
	if errors.Is(err, errors.ErrUnsupported) {
		return done, fmt.Errorf("%w: %w", ErrRewrite, err)
	}
	if err != nil {
		return done, fmt.Errorf("swap %s and its backup: %w", name, err)
	}
	was, err := d.giveBack(name, src)
	if err != nil {
		return done, err
	}
	done.Main, err = d.verify(name, edit.File(), e)
	if err != nil {
		return done, err
	}
	done.Timed = done.Main.Mtime.Equal(set)
	done.Marked = done.Timed && e.Mark && Marked(set)
	if was.SameContent(e.Main) {
		done.Backup = was
	}
	return done, nil
}

// cutShort makes it ErrOvertaken that a file ended before its size: another
// writer was about to write it anew.
func cutShort(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: %w", ErrOvertaken, err)
	}
	return err
}

// giveBack checks that the backup is the file was, which was called name, and
// returns its stamp. If it is another, which took the name just before, that
// gets it back.
func (d *Dir) giveBack(name string, was *os.File) (Stamp, error) {
	at, same, err := d.names(Backup(name), was)
	if err != nil || same {
		return at, err
	}
	if err := d.Exchange(name, Backup(name)); err != nil {
		return Stamp{}, fmt.Errorf("swap %s and its backup: %w", name, err)
	}
	return Stamp{}, ErrOvertaken
}

var errChanged = errors.New("it changed since it was read")

// Former returns the stamp of name's backup if that is the very file that was
// called name before, with the stamp was, and else none.
func (d *Dir) Former(name string, was Stamp) (Stamp, error) {
	at, err := d.Stat(Backup(name))
	if err != nil || !at.SameContent(was) {
		return Stamp{}, err
	}
	return at, nil
}

// reusable returns the stamp of the backup f if it may be written.
func (d *Dir) reusable(f *os.File, e Extension) (Stamp, error) {
	fi, err := f.Stat()
	if err != nil {
		return Stamp{}, err
	}
	at := d.stamp(fi)
	switch {
	case !fi.Mode().IsRegular() || links(fi) != 1:
		return at, fmt.Errorf("%w: the backup is no file of its own", ErrRewrite)
	case at.Inode != 0 && at.Inode == e.Main.Inode && at.Dev == e.Main.Dev:
		return at, fmt.Errorf("%w: the backup is the file itself", ErrRewrite)
	case !unread(f, fi):
		return at, fmt.Errorf("%w: the backup may be in use", ErrRewrite)
	}
	return at, nil
}

// restAge is how long a file must have been a backup before it may be written
// where the system cannot tell whether a reader still has it open.
const restAge = 2 * time.Second

// commonLines returns the size of what a backup of size have has in common
// with a file of size want, if that is all of either but for an incomplete
// last line.
func (d *Dir) commonLines(want, have io.ReaderAt, wantSize, haveSize int64) (int64, error) {
	common := min(wantSize, haveSize)
	a, b := make([]byte, 256<<10), make([]byte, 256<<10)
	lines := int64(0)
	for off := int64(0); off < common; {
		n := int(min(common-off, int64(len(a))))
		if _, err := want.ReadAt(a[:n], off); err != nil {
			return 0, err
		}
		if _, err := have.ReadAt(b[:n], off); err != nil {
			return 0, err
		}
		same := matching(a[:n], b[:n])
		if i := bytes.LastIndexByte(a[:same], '\n'); i >= 0 {
			lines = off + int64(i) + 1
		}
		if same < n {
			common = off + int64(same)
			break
		}
		off += int64(n)
	}
	if common < min(wantSize, haveSize) {
		return 0, fmt.Errorf("%w: the backup differs from the file", ErrRewrite)
	}
	return lines, nil
}

func matching(a, b []byte) int {
	if bytes.Equal(a, b) {
		return len(a)
	}
	n := 0
	for a[n] == b[n] {
		n++
	}
	return n
}

// catchUp makes the backup, of size bytes of which the first common are the
// file's, the file with the tail. It returns the time that the backup was
// given; the file system may keep another.
func (d *Dir) catchUp(name string, edit *atomicfile.Edit, src io.ReaderAt, common, size int64, e Extension) (set time.Time, err error) {
	missing := e.Main.Size - common
	data := make([]byte, missing, missing+int64(len(e.Tail)))
	if _, err := src.ReadAt(data, common); err != nil {
		return set, fmt.Errorf("read end of file: %w", err)
	}
	data = append(data, e.Tail...)
	if Marked(e.Main.Mtime) && !(e.Mark && common == size && single(data[:missing]) && single(e.Tail)) {
		// On the disk, the file that is about to be written may have the name
		// still. Torn after one of several lines it would look whole.
		if err := d.Sync(); err != nil {
			return set, err
		}
	}
	if common != size {
		if err := edit.Truncate(common); err != nil {
			return set, err
		}
	}
	if err := edit.WriteAt(data, common); err != nil {
		return set, fmt.Errorf("extend backup: %w", err)
	}
	if set, err = d.time(edit, e, common+int64(len(data))); err != nil {
		return set, fmt.Errorf("set time of backup: %w", err)
	}
	if !e.Sync {
		return set, nil
	}
	if err := edit.Sync(); err != nil {
		// What a sync failed to write, later ones take for written.
		return set, errors.Join(err, d.Remove(Backup(name)))
	}
	return set, nil
}

// single reports whether lines is at most one line.
func single(lines []byte) bool { return bytes.Count(lines, []byte{'\n'}) <= 1 }

// time sets the time of the backup, of size bytes now: to the mark, or to one
// that a later change hardly ever gets, and returns that. What another writer
// does next must be later than the mark; where none fits, the time is just
// after the file's, so that soon one does.
func (d *Dir) time(edit *atomicfile.Edit, e Extension, size int64) (time.Time, error) {
	at := atomicfile.Now(e.Main.Mtime)
	if e.Mark {
		end := make([]byte, min(size, markTail))
		if _, err := edit.File().ReadAt(end, size-int64(len(end))); err != nil {
			return time.Time{}, err
		}
		after := e.Main.Mtime
		if Marked(after) {
			after = time.Time{}
		}
		now := time.Now().Add(-fineStep)
		if at = mark(now, after, size, end); !at.Before(now) {
			for at = after.Add(time.Microsecond); Marked(at); {
				at = at.Add(time.Microsecond)
			}
		}
	}
	return at, edit.SetTime(at)
}

// verify checks that name leads to f now, with what was to be written, and
// returns its stamp.
func (d *Dir) verify(name string, f *os.File, e Extension) (Stamp, error) {
	at, same, err := d.names(name, f)
	switch {
	case err != nil:
		return Stamp{}, err
	case !same:
		return Stamp{}, ErrOvertaken
	case at.Size != e.Main.Size+int64(len(e.Tail)):
		return Stamp{}, ErrOverwritten
	}
	return at, nil
}
