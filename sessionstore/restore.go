package sessionstore

import (
	"errors"
	"io"

	"github.com/amplifier-go/sessionstorage/internal/commit"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// restoreFrom writes the bytes of the file name as the transcript in the place
// of t. The error is one of [overtaken] when another writer came between.
func (tx *transaction) restoreFrom(t *transcript, name string) error {
	src, at, err := tx.dir.Open(name)
	if err != nil {
		return err
	}
	tx.dir.Sweep()
	set := writtenAt(t.main.stamp.Mtime)
	if at.Size == 0 {
		if set, err = tx.dir.MarkEmpty(t.main.stamp.Mtime, tx.sync()); err != nil {
			return errors.Join(err, src.Close())
		}
	}
	done, err := tx.replace(sessiondir.Transcript, commit.Replacement{
		Was:  t.main.stamp,
		Time: set,
		Write: func(out io.Writer) error {
			_, err := src.Seek(0, io.SeekStart)
			if err == nil {
				_, err = io.Copy(out, src)
			}
			return err
		},
		Rotate: func() (bool, error) { return tx.rotateTranscript(t) },
	})
	if err = errors.Join(err, src.Close()); err != nil {
		return err
	}
	tx.s.invalidate()
	if t.appendPending {
		if err := tx.removeMarker(); err != nil {
			return err
		}
	}
	if done.Displaced {
		return errDisplaced
	}
	return nil
}
