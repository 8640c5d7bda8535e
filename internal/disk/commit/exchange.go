package commit

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

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
func (f File) settle(next, main *leased) (done Result, err error) {
	defer func() { err = afterNaming(err) }()
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
	if main.state() == leaseHeld {
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
	if next.state() != writerWaits {
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
