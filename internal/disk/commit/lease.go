package commit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// leased is an open file with a write lease: no other program has it open.
type leased struct {
	of   File
	name string // the name that it had when it was leased
	file *os.File
	at   sessiondir.Stamp // when it was leased, and when this process had written it
	own  bool             // it is a regular file with one name
	mode fs.FileMode      // when it was leased
}

// lease takes a write lease on file, which has the name. The error Is errInUse
// when another program has it open. The caller keeps the file open.
func (f File) lease(file *os.File, name string) (*leased, error) {
	if !f.Dir.Local() {
		return nil, errNoLease
	}
	err := f.Dir.Lease(name, func() error { return takeLease(file) })
	if errors.Is(err, errInUse) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoLease, err)
	}
	l := &leased{of: f, name: name, file: file}
	fi, err := file.Stat()
	if err != nil {
		l.release()
		return nil, err
	}
	l.at = f.Dir.StampIn(fi)
	l.mode = fi.Mode()
	l.own = l.mode.IsRegular() && sessiondir.Links(fi) == 1
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
	for errors.Is(err, errInUse) && next.state() != writerWaits && time.Now().Before(until) {
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

// state returns the state of the lease, and so whether a program waits for the file.
func (l *leased) state() leaseState { return leaseStateOf(l.file) }

// release gives the lease up; a waiting program goes on. The file stays open.
func (l *leased) release() { l.of.Dir.Release(l.name, func() { dropLease(l.file) }) }

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
