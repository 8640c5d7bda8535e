package sessiondir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
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
	Main   Stamp  // of the file; the caller knows its content
	Backup Stamp  // of its backup where the caller knows that it is the beginning of the file; zero otherwise
	End    []byte // the last bytes of the file, as far as the caller has them: they are not read then
	Tail   []byte
	Sync   bool // sync the content before it takes its name
	Mark   bool // mark it as whole, since the directory will not be synced
}

// Extended is what [Dir.Extend] leaves.
type Extended struct {
	Main, Backup Stamp
	Timed        bool // the file has the time that was set
	Firm         bool // and that is a mark which a power cut leaves in force
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
	missing, err := d.missing(name, edit.File(), at, e)
	if err != nil {
		return done, cutShort(err)
	}
	set, firm, err := d.catchUp(name, edit, missing, at.Size, e)
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
	was, err := d.giveBack(name, e.Main)
	if err != nil {
		return done, err
	}
	done.Main, err = d.verify(name, at, e)
	if err != nil {
		return done, err
	}
	done.Timed = done.Main.Mtime.Equal(set)
	done.Firm = done.Timed && firm
	if was.SameContent(e.Main) {
		done.Backup = was
	}
	return done, nil
}

// missing returns what the backup f with the stamp at lacks of the file name:
// the end of it, from a beginning that both have.
func (d *Dir) missing(name string, f *os.File, at Stamp, e Extension) (missing []byte, err error) {
	size := at.Size
	if lacks := e.Main.Size - size; at.Same(e.Backup) && lacks >= 0 && lacks <= int64(len(e.End)) {
		return e.End[int64(len(e.End))-lacks:], nil
	}
	src, err := d.OpenPlain(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRewrite, err)
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	if fi, err := src.Stat(); err != nil || !d.stamp(fi).Same(e.Main) {
		return nil, fmt.Errorf("%w: %w", ErrOvertaken, errors.Join(err, errChanged))
	}
	if !at.Same(e.Backup) {
		if size, err = d.commonLines(src, f, e.Main.Size, at.Size); err != nil {
			return nil, err
		}
	}
	missing = make([]byte, e.Main.Size-size)
	if _, err := src.ReadAt(missing, size); err != nil {
		return nil, fmt.Errorf("read end of file: %w", err)
	}
	return missing, nil
}

// cutShort makes it ErrOvertaken that a file ended before its size: another
// writer was about to write it anew.
func cutShort(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: %w", ErrOvertaken, err)
	}
	return err
}

// giveBack checks that the backup is the file with the stamp was, which was
// called name, and returns its stamp now. If it is another, which took the
// name just before, that gets it back. Its content may have changed: old
// Python tools write into a backup.
func (d *Dir) giveBack(name string, was Stamp) (Stamp, error) {
	at, err := d.Stat(Backup(name))
	if err != nil || at.SameFile(was) {
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

// catchUp makes the backup of size bytes, which lacks the end missing of the
// file, the file with the tail. It returns the time that the backup was given,
// and whether that is a firm mark; the file system may keep another.
func (d *Dir) catchUp(name string, edit *atomicfile.Edit, missing []byte, size int64, e Extension) (set time.Time, firm bool, err error) {
	common := e.Main.Size - int64(len(missing))
	data := slices.Concat(missing, e.Tail)
	if Marked(e.Main.Mtime) && !(e.Mark && common == size && single(missing) && single(e.Tail)) {
		// On the disk, the file that is about to be written may have the name
		// still. Torn after one of several lines it would look whole.
		if err := d.Sync(); err != nil {
			return set, firm, err
		}
	}
	if common != size {
		if err := edit.Truncate(common); err != nil {
			return set, firm, err
		}
	}
	if err := edit.WriteAt(data, common); err != nil {
		return set, firm, fmt.Errorf("extend backup: %w", err)
	}
	if set, firm, err = d.time(edit, e); err != nil {
		return set, firm, fmt.Errorf("set time of backup: %w", err)
	}
	if !e.Sync {
		return set, firm, nil
	}
	if err := edit.Sync(); err != nil {
		// What a sync failed to write, later ones take for written.
		return set, firm, errors.Join(err, d.Remove(Backup(name)))
	}
	return set, firm, nil
}

// single reports whether lines is at most one line.
func single(lines []byte) bool { return bytes.Count(lines, []byte{'\n'}) <= 1 }

// time sets the time of the backup, which is the file with the tail now: to
// the mark, or to one that a later change hardly ever gets, and returns that.
// What another writer does next must be later than the mark. The mark is firm
// when it holds also beside the file as it is: either that is marked, or its
// time is before. Where none such fits, the first names are yet to be made
// durable, after which the next one will.
func (d *Dir) time(edit *atomicfile.Edit, e Extension) (at time.Time, firm bool, err error) {
	at = atomicfile.Now(e.Main.Mtime)
	if e.Mark {
		size := e.Main.Size + int64(len(e.Tail))
		end, err := e.end(edit.File(), min(size, MarkTail))
		if err != nil {
			return at, false, err
		}
		at = mark(time.Now().Add(-fineStep), time.Time{}, size, end)
		firm = Marked(e.Main.Mtime) || at.After(e.Main.Mtime)
	}
	return at, firm, edit.SetTime(at)
}

// end returns the last n bytes of f, which is the file with the tail.
func (e *Extension) end(f *os.File, n int64) ([]byte, error) {
	own := int64(len(e.Tail))
	switch {
	case own >= n:
		return e.Tail[own-n:], nil
	case own+int64(len(e.End)) >= n:
		return slices.Concat(e.End[int64(len(e.End))-(n-own):], e.Tail), nil
	}
	end := make([]byte, n)
	_, err := f.ReadAt(end, e.Main.Size+own-n)
	return end, err
}

// verify checks that name leads to the file with the stamp was now, with what
// was to be written, and returns its stamp.
func (d *Dir) verify(name string, was Stamp, e Extension) (Stamp, error) {
	at, err := d.Stat(name)
	switch {
	case err != nil:
		return Stamp{}, err
	case !at.SameFile(was):
		return Stamp{}, ErrOvertaken
	case at.Size != e.Main.Size+int64(len(e.Tail)):
		return Stamp{}, ErrOverwritten
	}
	return at, nil
}
