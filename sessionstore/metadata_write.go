package sessionstore

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/commit"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/vfs"
)

// metadata returns the metadata of the session.
func (tx *transaction) metadata() metadataFile {
	return tx.st.metadataOf(tx.s, tx.dir, tx.id)
}

// replaceMetadata writes content as metadata.json in the place of m, unless m is
// the same. The error is one of [overtaken] when another writer came between.
func (tx *transaction) replaceMetadata(m *metadataFile, content []byte) error {
	if m.unread != nil {
		return m.unread
	}
	if m.main.sound() && bytes.Equal(m.main.data, content) {
		return nil
	}
	from := fromMain
	if !m.main.sound() && m.backup.sound() {
		from = fromBackup
	}
	r := commit.Replacement{
		Was:    m.main.stamp,
		Time:   vfs.Now(m.main.stamp.Mtime),
		Write:  func(out io.Writer) error { _, err := out.Write(content); return err },
		Rotate: func() (bool, error) { return tx.rotate(&m.main, &m.backup, from) },
	}
	done, err := tx.commitAmended(m, content)
	if err == nil {
		r.Time = m.amended.time
	} else if errors.Is(err, commit.ErrRewrite) {
		m.amended.discard()
		done, err = tx.replace(sessiondir.Metadata, r)
	}
	if err != nil {
		return err
	}
	if done.Displaced {
		return errDisplaced
	}
	return tx.putWrittenMetadata(content, r.Time, done.Main)
}

// commitAmended makes the backup of m, which has content, the metadata. The error Is
// [commit.ErrRewrite] where the backup has not.
func (tx *transaction) commitAmended(m *metadataFile, content []byte) (commit.Result, error) {
	if m.amended.file == nil || !bytes.Equal(m.amended.content, content) {
		return commit.Result{}, commit.ErrRewrite
	}
	done, err := m.amended.file.Commit()
	m.amended.discard()
	if err == nil {
		tx.noteRename(sessiondir.Metadata)
	}
	return done, err
}

// putWrittenMetadata caches content, which was just written to the file with that
// stamp, which was given the time set.
func (tx *transaction) putWrittenMetadata(content []byte, set time.Time, stamp sessiondir.Stamp) error {
	if stamp.Size != int64(len(content)) || !stamp.Mtime.Equal(set) {
		return nil // another writer's, or a file system with a coarse clock
	}
	md, err := ParseMetadata(content)
	if err != nil {
		return err
	}
	m := metadataFile{md: md, writtenTime: set}
	m.main = file{name: sessiondir.Metadata, path: tx.dir.Path(sessiondir.Metadata), found: true, data: content, stamp: stamp}
	tx.s.putMetadata(m, time.Now())
	return nil
}

// saveMetadata is replaceMetadata with retries: when another writer came between,
// edit makes new content of what that writer left.
func (tx *transaction) saveMetadata(m *metadataFile, content []byte, edit func(*metadataFile) ([]byte, error)) error {
	err := tx.replaceMetadata(m, content)
	for try := 0; try < maxRetries && overtaken(err); try++ {
		tx.s.invalidate()
		now := tx.metadata()
		if errors.Is(err, errDisplaced) {
			theirs, ok := tx.displacedMetadata(now)
			if !ok {
				return nil
			}
			now = theirs
		}
		if content, err = edit(&now); err != nil {
			return err
		}
		err = tx.replaceMetadata(&now, content)
	}
	return tx.conflict(sessiondir.Metadata, err)
}

// displacedMetadata returns the metadata that this call displaced, with the
// present file ours as its main. ok is false when it is not whole any more.
func (tx *transaction) displacedMetadata(ours metadataFile) (metadataFile, bool) {
	theirs, _, err := tx.displacedFile(sessiondir.Metadata)
	if err != nil {
		return ours, false
	}
	md := theirs.parseMetadata()
	return metadataFile{main: ours.main, backup: theirs, md: md, displaced: true}, theirs.sound()
}
