package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/commit"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyyaml"
)

// A write that changes a file makes its former state the backup. A file that a write leaves
// as it was has no former state to keep. The write makes sure instead that there is a sound
// backup, as the reference has one after every save: a session that is saved twice survives
// damage to its files.

// ensureBackups makes sure that the transcript and the metadata meta have sound backups. It
// looks at those of a session each time that this call wrote nothing, and else once.
func (tx *transaction) ensureBackups(meta *metadataFile) error {
	switch {
	case len(tx.wrote) > 0 && tx.s.backups.transcript != (soundBackup{}), slices.Contains(tx.wrote, sessiondir.Transcript):
	default:
		if err := tx.ensureTranscriptBackup(); err != nil {
			return err
		}
	}
	if len(tx.wrote) > 0 {
		return nil // the commit looks at the metadata
	}
	return tx.ensureMetadataBackup(meta)
}

// ensureMetadataBackup makes sure that sound metadata have a sound backup.
func (tx *transaction) ensureMetadataBackup(meta *metadataFile) error {
	if !meta.main.sound() {
		return nil
	}
	return tx.ensureBackup(&meta.main, &tx.s.backups.metadata, func(f *file) bool {
		f.parseMetadata()
		return f.sound()
	})
}

// backUpMetadata makes sure, once for a session, that metadata which a call of the store did
// not write have a sound backup. Other packages write other files: the reference backs up
// only these then. The call does not fail because of it: the next one tries again.
func (tx *transaction) backUpMetadata() {
	wrote := len(tx.wrote) > 0 && tx.op != ""
	if !wrote || tx.s.backups.metadata != (soundBackup{}) || slices.Contains(tx.wrote, sessiondir.Metadata) {
		return
	}
	meta := tx.metadata()
	if err := tx.ensureMetadataBackup(&meta); err != nil {
		tx.st.log.Warn("metadata not backed up", "session", tx.id, "err", err)
	}
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
		tx.s.backups.transcript.stamp = now
		return nil // this store made it, from the former transcript
	}
	main := file{name: sessiondir.Transcript, path: tx.dir.Path(sessiondir.Transcript), found: true, stamp: c.main}
	return tx.ensureBackup(&main, &tx.s.backups.transcript, func(f *file) bool {
		f.parseRows(context.WithoutCancel(tx.ctx))
		return f.sound() && (len(f.data) > 0 || c.size == 0)
	})
}

// ensureBackup makes a copy of main its backup if the backup is missing or damaged. It
// does not read the backup again when the backup is still seen, the last one found sound.
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
		if err := tx.quarantine(&backup, tx.dir.Quarantine); err != nil {
			return err
		}
	}
	if err := tx.copyToBackup(main); err != nil {
		return fmt.Errorf("back up %s: %w", main.name, err)
	}
	seen.stamp, err = tx.dir.Stat(name)
	if errors.Is(err, fs.ErrNotExist) { // another writer changed main, and backs it up
		return nil
	}
	return err
}

// copyToBackup makes a copy of main its backup: a file of its own, which gets its name
// when it is complete. If another writer has changed main, copyToBackup does nothing:
// that writer has backed it up.
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
		if errors.Is(err, io.EOF) { // it was truncated in between
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

// Replace makes messages the transcript, if its revision still is old; else the error Is
// [ErrConflict] and nothing changes. The former transcript becomes the backup. Metadata
// stays as it is.
func (st *Store) Replace(ctx context.Context, id string, old Revision, messages []Message) (now Revision, err error) {
	tx, err := st.begin(ctx, "replace transcript of", id, owns)
	if err != nil {
		return Revision{}, err
	}
	defer tx.end(&err)
	now, err = tx.replaceTranscript(old, messages)
	return now, tx.commit(err)
}

func (tx *transaction) replaceTranscript(old Revision, messages []Message) (Revision, error) {
	t, err := tx.transcript(tx.ctx, tx.metadata().md)
	if err != nil {
		return Revision{}, err
	}
	if t.revision() != old {
		return Revision{}, ErrConflict
	}
	if err := tx.ctx.Err(); err != nil {
		return Revision{}, err
	}
	if err := tx.conflict(sessiondir.Transcript, tx.saveTranscript(t, messages)); err != nil {
		return Revision{}, err
	}
	written := tx.st.transcriptOf(context.WithoutCancel(tx.ctx), tx.s, tx.dir, tx.id, Metadata{})
	return written.revision(), nil
}

// Revision identifies the transcript as [Store.Load] would read it.
func (st *Store) Revision(ctx context.Context, id string) (Revision, error) {
	err := st.admit(ctx)
	if err != nil {
		return Revision{}, wrap("read", id, err)
	}
	defer st.calls.Done()
	dir, err := st.openDir(id)
	if err != nil {
		return Revision{}, wrap("read", id, err)
	}
	s := st.cache.call(id)
	defer st.cache.end(s)
	t := st.transcriptOf(ctx, s, dir, id, st.metadataOf(s, dir, id).md)
	if err := joinErrors(t.damage, dir.Close()); err != nil {
		return t.revision(), wrap("read", id, err)
	}
	return t.revision(), nil
}

// Save makes transcript and md the state of the session, which is made when there is
// none. The former state becomes the backup.
//
// A transcript that extends the one on disk costs its new messages only; any other is
// written whole. Messages with role system or developer are not stored. Of metadata,
// members that only the disk has stay ([Store.UpdateMetadata] removes them), and the disk
// decides name, description and the members about them; values of secret keys are stored
// as "[REDACTED]". Content that is equal to the disk is not written; where such a file has
// no sound backup, a copy of it becomes its backup. The zero Metadata gives a new
// session session_id, created, bundle, model, turn_count and working_dir; any other
// metadata is stored as it is.
//
// A transcript that begins with the last messages on disk, but not with the first, is a
// window of a session that went on. Save refuses it with [ErrWindow] and writes nothing
// if a person wrote one of the messages that would be lost. [Store.Append] adds the new
// messages; [Store.Replace], with the revision, drops the old ones.
//
// The last writer wins, as in the reference: messages that another process wrote and
// transcript does not have are gone from the transcript, and stay in the backup until the
// next save. [Store.Append] and [Store.Replace] lose nothing: use them where several
// processes write one session. A damaged file is kept aside as <name>.damaged-<time of
// its last change> and never becomes a backup. A file that the system does not let be
// read may be whole: every call that would write in its place fails then and changes
// nothing. Beside a program that takes no lock, a call that writes begins anew up to 20
// times; then the error Is [ErrConflict], and so it is where that program makes a new
// session at the same moment. ctx is honoured until the first file changes
// its name. After an error the session has either the old state or the new one, whole.
func (st *Store) Save(ctx context.Context, id string, transcript []Message, md Metadata) (err error) {
	tx, err := st.begin(ctx, "save", id, owns|creates)
	if err != nil {
		return err
	}
	defer tx.end(&err)
	return tx.commit(tx.save(transcript, md))
}

func (tx *transaction) save(transcript []Message, md Metadata) error {
	meta := tx.metadata()
	if meta.unread != nil {
		return meta.unread
	}
	if meta.missing() && md.isZero() {
		md = tx.st.initialMetadata(tx.id, md, countUsers(transcript))
	}
	merged := tx.st.mergeEdit(md)
	content, err := merged(&meta)
	if err != nil {
		return err
	}
	t, err := tx.transcript(tx.ctx, meta.md)
	if err != nil {
		return err
	}
	if err := tx.ctx.Err(); err != nil {
		return err
	}
	if err := tx.saveOver(t, transcript); err != nil {
		return err
	}
	if err := tx.saveMetadata(&meta, content, merged); err != nil {
		return err
	}
	return tx.ensureBackups(&meta)
}

// mergeEdit returns the edit that merges md into the metadata on disk.
func (st *Store) mergeEdit(md Metadata) func(disk *metadataFile) ([]byte, error) {
	return func(disk *metadataFile) ([]byte, error) {
		own := md
		if disk.damage == nil {
			own = merge(disk.md, md)
		}
		content, err := own.file(st.opts.Portable)
		if err != nil {
			return nil, fmt.Errorf("encode metadata: %w", err)
		}
		return content, nil
	}
}

// Create makes a new session with an empty transcript and md. It adds the missing ones of
// session_id, created, bundle, model, turn_count and working_dir. The error Is
// fs.ErrExist when the session exists already, and [ErrConflict] too when a program that
// takes no lock made it at the same moment. A directory in which nothing was saved yet does
// not count as a session.
func (st *Store) Create(ctx context.Context, id string, md Metadata) (err error) {
	tx, err := st.begin(ctx, "create", id, owns|creates)
	if err != nil {
		return err
	}
	defer tx.end(&err)
	return tx.commit(tx.create(md))
}

func (tx *transaction) create(md Metadata) error {
	if !tx.created && !tx.vacant() {
		return errExists
	}
	content, err := tx.st.initialMetadata(tx.id, md, 0).file(tx.st.opts.Portable)
	if err != nil {
		return fmt.Errorf("encode metadata: %w", err)
	}
	if err := tx.writeRows(nil, nil); err != nil {
		return err
	}
	return tx.replaceMetadata(&metadataFile{}, content)
}

var errExists = limits.Errorf(fs.ErrExist, "the session exists already")

// vacant reports whether nothing has been saved in the directory: a failed Create left
// it, or it holds only another tool's events.
func (tx *transaction) vacant() bool {
	meta := tx.metadata()
	if !meta.missing() || tx.has(sessiondir.Backup(sessiondir.Transcript)) {
		return false
	}
	at, err := tx.dir.Stat(sessiondir.Transcript)
	return errors.Is(err, fs.ErrNotExist) || err == nil && at.Size == 0
}

// saveOver makes want the transcript in place of t, and of the transcript that another
// writer leaves in between. If that writer wrote just before, its transcript becomes the
// backup.
func (tx *transaction) saveOver(t *transcript, want []Message) error {
	for try := 0; ; try++ {
		if err := tx.refuseWindow(t, want); err != nil {
			return err
		}
		err := tx.saveTranscript(t, want)
		if errors.Is(err, errDisplaced) {
			return nil
		}
		if !overtaken(err) || try == maxRetries {
			return tx.conflict(sessiondir.Transcript, err)
		}
		if t, err = tx.left(err); t == nil {
			return err
		}
	}
}

// SaveConfig writes config as the session's config.md, YAML between two lines
// of dashes, byte for byte as the reference does. The session's directory is
// made when there is none. Nothing is redacted.
func (st *Store) SaveConfig(ctx context.Context, id string, config Metadata) (err error) {
	tx, err := st.begin(ctx, "save config of", id, creates)
	if err != nil {
		return err
	}
	defer tx.end(&err)
	return tx.commit(tx.saveConfig(config))
}

func (tx *transaction) saveConfig(config Metadata) error {
	content, err := pyyaml.Append([]byte("---\n"), config.object())
	if err != nil {
		return fmt.Errorf("encode config: %w", err)
	}
	content = append(content, "---\n\nConfig snapshot for session "+tx.id+"\n"...)
	if err := tx.ctx.Err(); err != nil {
		return err
	}
	_, err = tx.replace(sessiondir.Config, commit.Replacement{
		Time:   time.Now(),
		Write:  func(out io.Writer) error { _, err := out.Write(content); return err },
		Rotate: func() (bool, error) { return true, nil },
	})
	return err
}

// refuseWindow returns [ErrWindow] if want is a window of t with messages behind it: t
// ends with messages with which want begins, its first message is not among these, and a
// person wrote a message before the longest possible overlap.
func (tx *transaction) refuseWindow(t *transcript, want []Message) error {
	if t.from != fromMain || !t.main.found || t.damage != nil || t.appendPending || len(t.rows) < 2 {
		return nil
	}
	first := slices.IndexFunc(want, func(m Message) bool { return m.m == nil || m.m.places.role != unstoredRole })
	if first < 0 || want[first] == t.rows[0] || tx.wouldStore(want[first], t.rows[0]) {
		return nil // nothing is stored, or the transcript begins as before
	}
	rows, err := tx.st.storable(want, 0)
	if err != nil {
		return nil // the save returns the error
	}
	least, most := overlap(t.rows, rows)
	isFirst := func(m Message) bool { return sameBytes(m, t.rows[0]) }
	if least == 0 || slices.ContainsFunc(t.rows[len(t.rows)-least:], isFirst) || countUsers(t.rows[:len(t.rows)-most]) == 0 {
		return nil
	}
	return ErrWindow
}

// overlap returns the least and the greatest number of messages that are both the end of
// old and the beginning of next. Both are 0 if there is no overlap. The first message of
// old does not count. The time grows with the sum of both lengths.
func overlap(old, next []Message) (least, most int) {
	next = next[:min(len(next), len(old))]
	borders := make([]int, len(next)) // of next[:i+1]: the longest that it begins and ends with
	step := func(at int, m Message) int {
		for at > 0 && (at == len(next) || !sameBytes(next[at], m)) {
			at = borders[at-1]
		}
		if sameBytes(next[at], m) {
			at++
		}
		return at
	}
	for i := 1; i < len(next); i++ {
		borders[i] = step(borders[i-1], next[i])
	}
	at := 0
	for _, m := range old[1:] {
		at = step(at, m)
	}
	for least = at; least > 0 && borders[least-1] > 0; {
		least = borders[least-1]
	}
	return least, at
}

// sameBytes reports whether two messages are written as the same bytes.
func sameBytes(a, b Message) bool { return a == b || string(a.m.line()) == string(b.m.line()) }
