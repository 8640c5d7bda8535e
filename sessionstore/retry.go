package sessionstore

import (
	"errors"

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
