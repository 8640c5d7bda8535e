package sessionstore

import (
	"cmp"
	"errors"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/commit"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// metadataFile is metadata.json as it was read, with what was wrong.
type metadataFile struct {
	main, backup file
	md           Metadata
	recovered    *Recovery
	damage       error     // both are damaged: md is the reference's placeholder
	unread       error     // why the system did not let a file be read that decides; see [file]
	writtenTime  time.Time // the time of change that this store gave the file; zero: it did not
	displaced    bool      // md is from the backup, another writer's file that this call displaced

	amended amendment // of the backup, to become main; zero: none
}

// amendment is metadata.json with the next count, written over its backup. The zero
// amendment is none.
type amendment struct {
	file    *commit.Amendment
	content []byte
	time    time.Time
}

// discard lets other programs open the backup.
func (a *amendment) discard() {
	if a.file != nil {
		a.file.Discard()
		a.file = nil
	}
}

// missing reports whether neither metadata.json nor its backup is there.
func (m *metadataFile) missing() bool { return !m.main.found && !m.backup.found }

// memberBytes is what a member costs in memory beside its bytes.
const memberBytes = 64

// cost is about how many bytes of memory m takes: those of the file, of a copy
// that holds the members, and of their names.
func (m *metadataFile) cost() int64 {
	return memberBytes*int64(cap(m.md.members)+8) + 3*int64(cap(m.main.data)) + int64(len(m.main.path))
}

// readMetadata reads the metadata with the reference's recovery: the backup when
// the file is damaged or missing, a placeholder when both are damaged. now is the
// clock for the placeholder. Where nothing may stand in for a file, see
// [noBackup], it is an error.
func readMetadata(dir *sessiondir.Dir, id string, now func() time.Time) metadataFile {
	m := metadataFile{main: readFile(dir, sessiondir.Metadata)}
	m.md = m.main.parseMetadata()
	if m.main.sound() {
		return m
	}
	m.backup = readFile(dir, sessiondir.Backup(sessiondir.Metadata))
	m.unread = cmp.Or(m.main.unread, m.backup.unread)
	md := m.backup.parseMetadata()
	switch {
	case noBackup(m.unread):
		m.damage = m.unread
	case m.backup.sound():
		m.md = md
		if m.main.found {
			m.recovered = recovery(dir, &m.main, &m.backup, m.main.bad)
		}
	case m.main.found || m.backup.found:
		m.md = placeholder(id, now())
		m.damage = errors.Join(asError(m.main.bad), asError(m.backup.bad))
	}
	return m
}

// placeholder is what the reference puts in the place of damaged metadata.
func placeholder(id string, now time.Time) Metadata {
	return mustMetadata(NewMetadata(struct {
		ID        string `json:"session_id"`
		Recovered bool   `json:"recovered"`
		Time      string `json:"recovery_time"`
	}{id, true, pytime.Format(now.UTC())}))
}
