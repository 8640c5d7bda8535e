package sessionstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/commit"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
)

// diskWins are the members whose values on disk a save keeps. They have their own
// writers, in the newer Python tools and in package workflow.
var diskWins = []string{
	"name", "name_source", "name_revision", "name_updated_at", "name_generated_at",
	"description", "description_updated_at",
	"status", "manifest_name",
}

// merge returns the metadata that a save of incoming writes over disk: members that only
// disk has stay, and members of diskWins keep their value of disk.
func merge(disk, incoming Metadata) Metadata {
	merged := Metadata{members: slices.Clone(disk.all())}
	at := make(map[string]int, len(merged.members))
	for i, m := range merged.members {
		at[m.name] = i
	}
	for _, m := range incoming.all() {
		i, onDisk := at[m.name]
		switch {
		case !onDisk:
			merged.members = append(merged.members, m)
		case !slices.Contains(diskWins, m.name):
			merged.members[i].value = m.value
		}
	}
	return merged
}

// metadataFile is metadata.json as it was read, with its faults.
type metadataFile struct {
	main, backup file
	md           Metadata
	recovered    *Recovery
	damage       error     // both are damaged: md is the reference's placeholder
	unread       error     // the reason why the system did not let a decisive file be read; see [file]
	writtenTime  time.Time // the time of change that this store gave the file; zero: it set none
	displaced    bool      // md is from the backup, another writer's file that this call displaced

	amended amendment // of the backup, to become main; zero: none
}

// amendment is metadata.json with the next count, written over its backup. The zero
// amendment holds none.
type amendment struct {
	file    *commit.Amendment
	content []byte
	md      Metadata // as content has it
	turns   int
	time    time.Time
}

// discard lets other programs open the backup.
func (a *amendment) discard() {
	if a.file != nil {
		a.file.Discard()
		a.file = nil
	}
}

// missing reports whether neither metadata.json nor its backup exists.
func (m *metadataFile) missing() bool { return !m.main.found && !m.backup.found }

// memberBytes is the memory of a member beside its bytes.
const memberBytes = 64

// cost returns about how many bytes of memory m takes: the bytes of the file, of a copy
// that holds the members, and of their names.
func (m *metadataFile) cost() int64 {
	return memberBytes*int64(cap(m.md.members)+8) + 3*int64(cap(m.main.data)) + int64(len(m.main.path))
}

// readMetadata reads the metadata with the reference's recovery: the backup when the file
// is damaged or missing, a placeholder when both are damaged. now is the clock for the
// placeholder. Where nothing may replace a file, see [noBackup], m.damage is the error.
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

// placeholder returns the metadata that the reference puts in the place of damaged ones.
func placeholder(id string, now time.Time) Metadata {
	return mustMetadata(NewMetadata(struct {
		ID        string `json:"session_id"`
		Recovered bool   `json:"recovered"`
		Time      string `json:"recovery_time"`
	}{id, true, pytime.Format(now.UTC())}))
}

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
	var done commit.Result
	var md Metadata
	err := commit.ErrRewrite
	if m.amended.file != nil && bytes.Equal(m.amended.content, content) {
		done, err = m.amended.file.Commit()
	}
	m.amended.discard()
	switch {
	case err == nil:
		r.Time, md = m.amended.time, m.amended.md
		tx.noteRename(sessiondir.Metadata)
	case errors.Is(err, commit.ErrRewrite):
		done, err = tx.replace(sessiondir.Metadata, r)
	}
	if err != nil {
		return err
	}
	if done.Displaced {
		return errDisplaced
	}
	return tx.putWrittenMetadata(md, content, r.Time, done.Main)
}

// putWrittenMetadata caches content, which was just written to the file with that stamp,
// which was given the time set. md is the metadata in content, zero where the caller does
// not know them.
func (tx *transaction) putWrittenMetadata(md Metadata, content []byte, set time.Time, stamp sessiondir.Stamp) (err error) {
	if stamp.Size != int64(len(content)) || !stamp.Mtime.Equal(set) {
		return nil // another writer's, or a file system with a coarse clock
	}
	if md.isZero() {
		if md, err = ParseMetadata(content); err != nil {
			return err
		}
	}
	m := metadataFile{md: md, writtenTime: set}
	m.main = file{name: sessiondir.Metadata, path: tx.dir.Path(sessiondir.Metadata), found: true, data: content, stamp: stamp}
	tx.s.putMetadata(m, time.Now())
	return nil
}

// saveMetadata is replaceMetadata with retries: when another writer came between, edit
// makes new content from the metadata of that writer.
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

// displacedMetadata returns the metadata that this call displaced, with the present file
// ours as its main. ok is false when the displaced file is not whole any more.
func (tx *transaction) displacedMetadata(ours metadataFile) (metadataFile, bool) {
	theirs, _, err := tx.displacedFile(sessiondir.Metadata)
	if err != nil {
		return ours, false
	}
	md := theirs.parseMetadata()
	return metadataFile{main: ours.main, backup: theirs, md: md, displaced: true}, theirs.sound()
}

// UpdateMetadata hands the metadata on disk to edit, writes the edited metadata, and
// returns them, secrets not redacted. Other calls that write the session wait until then.
// When a tool that takes no lock writes the metadata in between, edit is called again
// with the metadata of that tool. When edit returns an error, UpdateMetadata returns that
// error and writes nothing. Damaged metadata is replaced, and kept aside, as by
// [Store.Save]; edit is then given the reference's placeholder.
func (st *Store) UpdateMetadata(ctx context.Context, id string, edit func(*Metadata) error) (md Metadata, err error) {
	tx, err := st.begin(ctx, "update metadata of", id, 0)
	if err != nil {
		return Metadata{}, err
	}
	defer tx.end(&err)
	md, err = tx.updateMetadata(edit)
	if err = tx.commit(err); err != nil {
		return Metadata{}, err
	}
	return md, nil
}

func (tx *transaction) updateMetadata(edit func(*Metadata) error) (md Metadata, err error) {
	edited := func(m *metadataFile) ([]byte, error) {
		md = m.md
		if err := edit(&md); err != nil {
			return nil, err
		}
		content, err := md.file(tx.st.opts.Portable)
		if err != nil {
			return nil, fmt.Errorf("encode metadata: %w", err)
		}
		return content, tx.ctx.Err()
	}
	m := tx.metadata()
	if m.unread != nil {
		return md, m.unread
	}
	content, err := edited(&m)
	if err != nil {
		return md, err
	}
	if err := tx.saveMetadata(&m, content, edited); err != nil || len(tx.wrote) > 0 {
		return md, err
	}
	return md, tx.ensureMetadataBackup(&m)
}

// initialMetadata completes the metadata of a new session, as the reference's command
// line does: existing members first. turns is the number of messages that a person wrote.
func (st *Store) initialMetadata(id string, md Metadata, turns int) Metadata {
	full := mustMetadata(NewMetadata(struct {
		ID      string `json:"session_id"`
		Created string `json:"created"`
		Bundle  string `json:"bundle"`
		Model   string `json:"model"`
		Turns   int    `json:"turn_count"`
		Dir     string `json:"working_dir"`
	}{id, pytime.Format(st.opts.Now().UTC().Truncate(time.Microsecond)), "unknown", "unknown", turns, st.workspace()}))
	for _, m := range full.all() {
		if _, given := md.lookup(m.name); !given {
			md.set(m)
		}
	}
	return md
}

// workspace returns the directory that new sessions belong to.
func (st *Store) workspace() string {
	dir := st.opts.Workspace
	if dir == "" {
		dir, _ = os.Getwd() // "" in a process without a working directory
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		return resolved
	}
	return dir
}
