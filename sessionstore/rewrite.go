package sessionstore

import (
	"fmt"
	"io"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/commit"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/vfs"
)

// writeRows writes rows as the whole transcript in the place of t. A nil t means
// that no former transcript needs a backup. The error is one of [overtaken] when
// another writer came between.
func (tx *transaction) writeRows(t *transcript, rows []Message) error {
	tx.dir.Sweep()
	c := &cachedTranscript{rows: rows[:len(rows):len(rows)], ended: true, epoch: newEpoch()}
	r := commit.Replacement{
		Write:  func(out io.Writer) error { return c.write(out) },
		Rotate: func() (bool, error) { return tx.rotateTranscript(t) },
	}
	if t != nil {
		r.Was = t.main.stamp
	}
	r.Time = writtenAt(r.Was.Mtime)
	var err error
	if len(rows) == 0 {
		if r.Time, err = tx.dir.MarkEmpty(r.Was.Mtime, tx.sync()); err != nil {
			return err
		}
	}
	done, err := tx.replace(sessiondir.Transcript, r)
	if err != nil {
		return err
	}
	if t != nil && t.appendPending {
		if err := tx.removeMarker(); err != nil {
			return err
		}
	}
	return tx.putWritten(c, r.Time, done)
}

// rotateTranscript prepares the replacement of t, see rotate. A nil t needs
// nothing. While a marker is there, main is half an append: it is lost, and the
// backup stays.
func (tx *transaction) rotateTranscript(t *transcript) (rotates bool, err error) {
	if t == nil || t.appendPending {
		return false, nil
	}
	return tx.rotate(&t.main, &t.backup, t.from)
}

// removeMarker removes the marker of a newer Python tool. It first makes the
// transcript durable that has replaced the half-written one.
func (tx *transaction) removeMarker() error {
	if err := tx.dir.Sync(); err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	if err := tx.dir.Remove(sessiondir.Marker); err != nil {
		return fmt.Errorf("remove marker: %w", err)
	}
	if err := tx.dir.Sync(); err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	return nil
}

// putWritten caches c, the content of the file that was just written and given
// the time set. The error is one of [overtaken] when another writer came between.
func (tx *transaction) putWritten(c *cachedTranscript, set time.Time, done commit.Result) error {
	if done.Main.Size != c.size {
		return commit.ErrOvertaken
	}
	c.main, c.checkedAt = done.Main, time.Now()
	if done.Main.Mtime.Equal(set) {
		c.writtenTime = set
	}
	tx.s.putTranscript(c)
	if done.Displaced {
		return errDisplaced
	}
	return nil
}

// writtenBefore is how far a transcript's time of change lies before the moment
// at which it gets its name: longer than a step of a file system's clock. See
// [emptyByChance], which compares the two.
const writtenBefore = 20 * time.Millisecond

// writtenAt returns the time of change to give to a transcript that replaces one
// with the time after. It is later than after.
func writtenAt(after time.Time) time.Time {
	if at := time.Now().Add(-writtenBefore); at.After(after) {
		return at
	}
	return vfs.Now(after)
}
