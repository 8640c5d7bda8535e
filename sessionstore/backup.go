package sessionstore

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/commit"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// A write that changes a file makes what stood there the backup. A write that
// changes nothing has no former state to keep. It makes sure instead that there
// is a sound backup, as the reference has one after every save: a session that
// is saved twice survives damage to its files.

// ensureBackups makes sure that the transcript and the metadata meta have sound
// backups, unless this call wrote anything.
func (tx *transaction) ensureBackups(meta *metadataFile) error {
	if len(tx.wrote) > 0 {
		return nil
	}
	if err := tx.ensureTranscriptBackup(); err != nil {
		return err
	}
	if !meta.main.sound() {
		return nil
	}
	return tx.ensureBackup(&meta.main, &tx.s.backups.metadata, func(f *file) bool {
		f.parseMetadata()
		return f.sound()
	})
}

// ensureTranscriptBackup makes sure that the transcript has a sound backup. An
// empty backup is not enough for a transcript with messages.
func (tx *transaction) ensureTranscriptBackup() error {
	tx.s.mu.Lock()
	c := tx.s.cached
	tx.s.mu.Unlock()
	if c == nil {
		return nil // another writer's, which backs it up
	}
	now, err := tx.dir.Stat(sessiondir.Backup(sessiondir.Transcript))
	if err == nil && now.Same(c.backup) && now.Size > 0 {
		return nil // this store made it, of what the transcript was before
	}
	main := file{name: sessiondir.Transcript, path: tx.dir.Path(sessiondir.Transcript), found: true, stamp: c.main}
	return tx.ensureBackup(&main, &tx.s.backups.transcript, func(f *file) bool {
		f.parseRows()
		return f.sound() && (len(f.data) > 0 || c.size == 0)
	})
}

// ensureBackup makes a copy of main its backup if the backup is missing or
// damaged. It does not read the backup again when that is still seen, the one
// last found sound.
func (tx *transaction) ensureBackup(main *file, seen *soundBackup, sound func(*file) bool) error {
	name := sessiondir.Backup(main.name)
	now, err := tx.dir.Stat(name)
	if err == nil && now.Same(seen.stamp) && tx.st.base.Settled(now, seen.checkedAt) {
		return nil
	}
	asked := time.Now()
	backup := readFile(tx.dir, name)
	if sound(&backup) && !backup.stamp.SameFile(main.stamp) { // else one damage would harm both
		*seen = soundBackup{backup.stamp, asked}
		return nil
	}
	if backup.bad != nil {
		if err := tx.quarantine(&backup); err != nil {
			return err
		}
	}
	if err := tx.copyToBackup(main); err != nil {
		return fmt.Errorf("back up %s: %w", main.name, err)
	}
	return nil
}

// copyToBackup makes a copy of main its backup: a file of its own, which gets
// its name when it is complete. Where another writer has changed main, nothing
// happens: that writer has backed it up.
func (tx *transaction) copyToBackup(main *file) error {
	err := tx.dir.Replace(sessiondir.Backup(main.name), tx.sync(), main.stamp.Mtime, func(out io.Writer) error {
		src, at, err := tx.dir.Open(main.name)
		if err != nil {
			return err
		}
		if !at.SameContent(main.stamp) {
			return errors.Join(commit.ErrOvertaken, src.Close())
		}
		_, err = io.CopyN(out, src, at.Size)
		if errors.Is(err, io.EOF) { // it was cut meanwhile
			err = commit.ErrOvertaken
		}
		return errors.Join(err, src.Close())
	})
	if errors.Is(err, commit.ErrOvertaken) {
		return nil
	}
	tx.namesChanged = tx.namesChanged || err == nil
	return err
}
