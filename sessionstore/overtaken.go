package sessionstore

import (
	"errors"
	"fmt"
	"io"

	"github.com/amplifier-go/sessionstorage/internal/commit"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/vfs"
)

// errDisplaced tells that this call displaced a file of another writer that takes
// no lock: that writer had given the name to its own file just before this call
// did. The other writer's file is the backup now.
var errDisplaced = errors.New("another writer's file became the backup")

// overtaken reports whether err tells that another writer came between.
func overtaken(err error) bool {
	return errors.Is(err, commit.ErrOvertaken) || errors.Is(err, commit.ErrOverwritten) || errors.Is(err, errDisplaced)
}

// maxRetries is how often a write begins anew because a writer that takes no
// lock came between.
const maxRetries = 20

// displacedFile returns the displaced file of name, which is its backup now, and
// the present file, unread. The error is errDisplaced when the backup is damaged
// or empty.
func (tx *transaction) displacedFile(name string) (theirs, main file, err error) {
	theirs = readFile(tx.dir, sessiondir.Backup(name))
	if !theirs.sound() || len(theirs.data) == 0 {
		return theirs, main, errDisplaced
	}
	main = file{name: name, path: tx.dir.Path(name), found: true}
	main.stamp, err = tx.dir.Stat(name)
	return theirs, main, err
}

// conflict turns an error of [overtaken] into [ErrConflict]. Where this call
// displaced the other writer's file, conflict first gives a copy of that file its
// name back.
func (tx *transaction) conflict(name string, err error) error {
	if !overtaken(err) {
		return err
	}
	if errors.Is(err, errDisplaced) {
		if err := tx.restoreTheirs(name); err != nil {
			return fmt.Errorf("%w: %w", ErrConflict, err)
		}
	}
	return fmt.Errorf("%w: a program that takes no lock wrote it at the same time", ErrConflict)
}

// restoreTheirs replaces the file name with a copy of the file that this call
// displaced.
func (tx *transaction) restoreTheirs(name string) error {
	tx.s.invalidate()
	theirs, main, err := tx.displacedFile(name)
	if err != nil {
		return err
	}
	_, err = tx.replace(name, commit.Replacement{
		Was:    main.stamp,
		Time:   vfs.Now(theirs.stamp.Mtime),
		Write:  func(out io.Writer) error { _, err := out.Write(theirs.data); return err },
		Rotate: func() (bool, error) { return false, nil },
	})
	return err
}
