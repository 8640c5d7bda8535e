package commit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

var (
	// ErrRewrite is returned when a file cannot be appended to by way of its backup and
	// has to be replaced. Main is as it was.
	ErrRewrite = errors.New("file must be rewritten")

	// ErrOvertaken is returned when main is the file of another writer, which honours no
	// lock. Main must be read before anything is written.
	ErrOvertaken = vfs.ErrOvertaken

	// ErrOverwritten is returned when another writer wrote into the new main while this
	// process was stopped. Main must be written again, from memory.
	ErrOverwritten = errors.New("another program wrote into the file")
)

// File is a file of a session, with its backup. The caller holds the session's
// lock.
type File struct {
	Dir  *sessiondir.Dir
	Name string
	Sync bool // content is durable before it gets a name, else the system has begun to write it; names are durable after [vfs.Dir.Sync]
}

func (f File) backup() string { return sessiondir.Backup(f.Name) }

// Result holds the stamps of both files after a commit.
type Result struct {
	Main      sessiondir.Stamp
	Backup    sessiondir.Stamp // of the former main, or of a copy of it; zero: it is neither
	Displaced bool             // another writer's file, which had become main just before, is the backup
}

// Replacement is the new content of a file.
type Replacement struct {
	// Was is the stamp of main, whose content the caller knows; zero: any.
	Was  sessiondir.Stamp
	Time time.Time // the time of the last change that the file is given; see [vfs.Now]
	// Write writes the content. It is called again where the exchange of names
	// turns out not to work.
	Write func(io.Writer) error
	// Rotate is called when the content is ready and nothing has changed yet.
	// It reports whether main becomes the backup; else main is replaced and the
	// backup stays.
	Rotate func() (bool, error)
	// Relaxed replaces the file without a sync, whatever [File] says.
	Relaxed bool
}

// unchanged returns ErrOvertaken unless main is still the file with the stamp was. The
// zero stamp fits any file.
func (f File) unchanged(was sessiondir.Stamp) error {
	if was == (sessiondir.Stamp{}) {
		return nil
	}
	now, err := f.Dir.Stat(f.Name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !now.SameContent(was) {
		return ErrOvertaken
	}
	return err
}

var errNoExchange = errors.New("names cannot be exchanged")

// exchange takes the step from "ready" to "done". The error Is [ErrOvertaken] or
// errNoExchange, and nothing has changed, when main is another file or names
// cannot be exchanged.
func (f File) exchange(main *leased) error {
	if err := f.unchanged(main.at); err != nil {
		return err
	}
	if err := f.Dir.Exchange(f.Name, f.backup()); err != nil {
		f.Dir.NoExchange(err)
		return fmt.Errorf("%w: %w", errNoExchange, err)
	}
	return nil
}

// settle finishes the commit after the exchange: next is main now, and main is the
// backup. It returns the result.
func (f File) settle(next, main *leased) (Result, error) {
	if err := f.protectBackup(main); err != nil {
		return Result{}, err
	}
	if err := f.protectMain(next); err != nil {
		return Result{}, err
	}
	return f.result(next, main)
}

// protectBackup makes the backup a copy of the former main when a program waits
// to open that: it may be about to copy it over the backup.
func (f File) protectBackup(main *leased) error {
	if vfs.LeaseOf(main.file) == vfs.LeaseHeld {
		return nil
	}
	at, err := main.copyOver(f.backup())
	switch {
	case errors.Is(err, errAltered), errors.Is(err, ErrOvertaken):
		return nil // the lease had expired, and the program has written its own backup
	case err != nil:
		return fmt.Errorf("copy the former %s: %w", f.Name, err)
	}
	main.at = at
	return nil
}

// protectMain makes main a copy of next when a program waits to write into next, which it
// opened as the backup.
func (f File) protectMain(next *leased) error {
	if vfs.LeaseOf(next.file) != vfs.WriterWaits {
		return nil
	}
	at, err := next.copyOver(f.Name)
	if errors.Is(err, errAltered) {
		return fmt.Errorf("%w: %w", ErrOverwritten, err)
	}
	if err != nil {
		return fmt.Errorf("copy the new %s: %w", f.Name, err)
	}
	next.at = at
	return nil
}

// result checks that main is next and that the backup is the former main.
func (f File) result(next, main *leased) (Result, error) {
	now, err := f.Dir.Stat(f.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Result{}, ErrOvertaken
	case err != nil:
		return Result{}, err
	case !now.SameFile(next.at):
		return Result{}, ErrOvertaken
	case now.Size != next.at.Size:
		return Result{}, ErrOverwritten
	}
	former, err := f.Dir.Stat(f.backup())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Result{Main: now}, nil
	case err != nil:
		return Result{}, err
	case !former.SameFile(main.at):
		return Result{Main: now, Displaced: true}, nil
	case !former.SameContent(main.at):
		former = sessiondir.Stamp{}
	}
	return Result{Main: now, Backup: former}, nil
}

// leased is an open file with a write lease: no other program has it open.
type leased struct {
	of   File
	name string // the name that it had when it was leased
	file *os.File
	at   sessiondir.Stamp // when it was leased, and when this process had written it
	own  bool             // it is a regular file with one name
	mode fs.FileMode      // when it was leased
}

// lease takes a write lease on file, which has the name. The error Is
// [vfs.ErrOpen] when another program has it open. The caller keeps the file open.
func (f File) lease(file *os.File, name string) (*leased, error) {
	if !f.Dir.Local() {
		return nil, vfs.ErrNoLease
	}
	err := f.Dir.Lease(name, file)
	if errors.Is(err, vfs.ErrOpen) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", vfs.ErrNoLease, err)
	}
	l := &leased{of: f, name: name, file: file}
	fi, err := file.Stat()
	if err != nil {
		l.release()
		return nil, err
	}
	l.at = f.Dir.StampIn(fi)
	l.mode = fi.Mode()
	l.own = l.mode.IsRegular() && vfs.Links(fi) == 1
	return l, nil
}

// How long a commit waits for a program that reads main, and before it looks again: at
// first, and then twice as long each time.
const (
	readerLimit = 20 * time.Millisecond
	readerPause = 30 * time.Microsecond
)

// leaseMain opens main, which must be the file with the stamp was, and takes the lease on
// it. It waits for readers of main, but not while a program waits to write into next:
// that program may hold main as its source. The caller closes the file.
func (f File) leaseMain(was sessiondir.Stamp, next *leased) (*leased, error) {
	file, err := f.Dir.OpenPlain(f.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrOvertaken, err)
	}
	if err != nil {
		return nil, err
	}
	main, err := f.lease(file, f.Name)
	until, pause := time.Now().Add(readerLimit), readerPause
	for errors.Is(err, vfs.ErrOpen) && vfs.LeaseOf(next.file) != vfs.WriterWaits && time.Now().Before(until) {
		time.Sleep(pause)
		pause = min(2*pause, time.Millisecond)
		main, err = f.lease(file, f.Name)
	}
	if err == nil && !main.at.SameContent(was) {
		main.release()
		err = ErrOvertaken
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return main, nil
}

// release gives the lease up; a waiting program goes on. The file stays open.
func (l *leased) release() { l.of.Dir.Release(l.name, l.file) }

// copyOver gives name to a complete copy of the file and returns the stamp of
// the copy. The error Is errAltered when the file has changed since it was
// leased: then the lease had expired.
func (l *leased) copyOver(name string) (sessiondir.Stamp, error) {
	p, err := l.of.copyOf(l.file, l.at, name)
	if err != nil {
		return sessiondir.Stamp{}, err
	}
	return rename(l.of.Dir, p, name)
}

// close gives the lease up and closes the file.
func (l *leased) close() {
	l.release()
	_ = l.file.Close() // only read
}
