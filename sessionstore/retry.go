package sessionstore

import (
	"errors"
	"fmt"
	"io"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/commit"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// retry runs do on the transcript t. While another writer comes between, it runs
// do again on what that writer left, maxRetries times at most. Then the error Is
// [ErrConflict].
func (tx *transaction) retry(t *transcript, do func(*transcript) error) error {
	err := do(t)
	for try := 0; try < maxRetries && overtaken(err); try++ {
		tx.s.invalidate()
		if errors.Is(err, errDisplaced) {
			if t = tx.displaced(); t == nil {
				return nil // it is gone: this call was the last to rename
			}
			err = do(t)
			continue
		}
		if t, err = tx.transcript(tx.metadata().md); err == nil {
			err = do(t)
		}
	}
	return tx.conflict(sessiondir.Transcript, err)
}

// displaced returns the transcript that this call displaced, with the stamp of
// the present file: what is made of it replaces that file. It returns nil when
// the displaced transcript is not whole any more.
func (tx *transaction) displaced() *transcript {
	theirs, main, err := tx.displacedFile(sessiondir.Transcript)
	if err != nil {
		return nil
	}
	rows := theirs.parseRows()
	if !theirs.sound() {
		return nil
	}
	return &transcript{main: main, rows: rows, from: fromMain}
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
		Time:   atomicfile.Now(theirs.stamp.Mtime),
		Write:  func(out io.Writer) error { _, err := out.Write(theirs.data); return err },
		Rotate: func() (bool, error) { return false, nil },
	})
	return err
}
