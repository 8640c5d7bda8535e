package sessionstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/commit"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/store/index"
)

// transcript returns the transcript on disk for writing. It returns an error, and nothing
// may be written, while there is a marker and the backup is no transcript, and while the
// system does not let the transcript be read.
func (tx *transaction) transcript(ctx context.Context, md Metadata) (*transcript, error) {
	t, err := tx.existing(ctx, md)
	if err == nil && t.gone {
		t.damage, err = nil, tx.refuseMissing(t)
	}
	return t, err
}

// existing is transcript, but also returns a missing transcript that must not be written.
func (tx *transaction) existing(ctx context.Context, md Metadata) (*transcript, error) {
	t := tx.read(ctx, md)
	if t.unread != nil {
		return nil, t.unread
	}
	if t.appendPending && t.damage != nil {
		return nil, t.damage
	}
	return &t, nil
}

// read reads the transcript as the only writer.
func (tx *transaction) read(ctx context.Context, md Metadata) transcript {
	return tx.st.transcriptOf(ctx, tx.s, tx.dir, tx.id, md)
}

// saveTranscript makes the storable messages of want the transcript, in place of t.
func (tx *transaction) saveTranscript(t *transcript, want []Message) error {
	if t.cached != nil && !t.cached.nonCanonical {
		if n, ok := tx.matchPrefix(want, t.rows); ok {
			added, err := tx.st.storable(want[n:], n)
			if err != nil {
				return err
			}
			t.cached = t.cached.withMessages(want[:n])
			return tx.extend(t, added)
		}
	}
	rows, err := tx.st.storable(want, 0)
	if err != nil {
		return err
	}
	return tx.writeRows(t, rows)
}

// matchPrefix returns the number of messages of want that match have, all of which is
// stored. Messages of want that are not stored are skipped, and count. ok is false when
// want does not begin with have. Messages that this store returned are compared by
// identity.
func (tx *transaction) matchPrefix(want, have []Message) (n int, ok bool) {
	if sameMessages(want, have) {
		return len(have), true
	}
	for _, m := range have {
		for n < len(want) && want[n] != m && want[n].m != nil && want[n].m.places.role == unstoredRole {
			n++
		}
		if n == len(want) || want[n] != m && !tx.wouldStore(want[n], m) {
			return n, false
		}
		n++
	}
	return n, true
}

// sameMessages reports whether want begins with the very messages of have.
func sameMessages(want, have []Message) bool {
	if len(want) < len(have) {
		return false
	}
	const step = 64 // compared as one piece of memory
	for len(have) >= step {
		if *(*[step]Message)(want) != *(*[step]Message)(have) {
			return false
		}
		want, have = want[step:], have[step:]
	}
	return slices.Equal(want[:len(have)], have)
}

// wouldStore reports whether a save of m writes the line of row.
func (tx *transaction) wouldStore(m, row Message) bool {
	if m.m == nil {
		return false
	}
	if tx.st.opts.Portable {
		m = m.portable()
	}
	return bytes.Equal(m.m.raw, row.m.raw)
}

// storable returns the messages that are stored. Errors call the first message number at.
func (st *Store) storable(msgs []Message, at int) ([]Message, error) {
	rows := make([]Message, 0, len(msgs))
	for i, m := range msgs {
		if m.m == nil {
			return nil, zeroMessage(at + i)
		}
		if m.m.places.role == unstoredRole {
			continue
		}
		if st.opts.Portable {
			m = m.portable()
		}
		rows = append(rows, m)
	}
	return rows, nil
}

func zeroMessage(i int) error {
	return fmt.Errorf("message %d: %w: it is the zero Message", i, ErrUnstorable)
}

// writeRows writes rows as the whole transcript in place of t. A nil t means that no
// former transcript needs a backup. The error is one of [overtaken] when another writer
// came between.
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
	if err := tx.syncNames(); err != nil {
		return err
	}
	if err := tx.dir.Remove(sessiondir.Marker); err != nil {
		return fmt.Errorf("remove marker: %w", err)
	}
	return tx.syncNames()
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

// writtenBefore is the distance between a transcript's time of change and the later
// moment at which it gets its name: longer than a step of a file system's clock. See
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

// extend appends rows to the transcript t, which is sound and cached. The error
// is one of [overtaken] when another writer came between.
func (tx *transaction) extend(t *transcript, rows []Message) error {
	if len(rows) == 0 {
		return nil
	}
	c := t.cached
	tail := lines(rows)
	if !c.ended || c.size == 0 {
		return tx.rewriteExtended(t, rows, tail)
	}
	if err := tx.syncName(c); err != nil {
		return err
	}
	set := writtenAt(c.main.Mtime)
	done, err := tx.file(sessiondir.Transcript).Append(commit.Addition{
		Main: c.main, Backup: c.backup, End: c.end, Lines: tail, Time: set,
	})
	switch {
	case errors.Is(err, commit.ErrRewrite):
		return tx.rewriteExtended(t, rows, tail)
	case errors.Is(err, commit.ErrOverwritten):
		return tx.writeRows(nil, slices.Concat(c.rows, rows))
	case err != nil:
		return err
	}
	tx.noteRename(sessiondir.Transcript)
	more := c.extended(rows, tail)
	more.backup = done.Backup
	return tx.putAppended(c, more, set, done)
}

// putAppended is putWritten for the transcript was, which was appended to.
func (tx *transaction) putAppended(was, c *cachedTranscript, set time.Time, done commit.Result) error {
	err := tx.putWritten(c, set, done)
	if err == nil {
		tx.st.noteAppend(tx.s, was, c)
	}
	return err
}

// syncName syncs the name of the transcript c unless this store has synced it. Another
// writer may have given it that name, and have been killed before it synced it. Then the
// disk may still have the name lead to the file that the append is about to write.
func (tx *transaction) syncName(c *cachedTranscript) error {
	if !tx.sync() || tx.s.nameSynced.Same(c.main) {
		return nil
	}
	if err := tx.syncNames(); err != nil {
		return err
	}
	tx.s.nameSynced = c.main
	return nil
}

// lines returns the lines of rows.
func lines(rows []Message) []byte {
	size := 0
	for _, m := range rows {
		size += len(m.m.raw) + 1
	}
	out := make([]byte, 0, size)
	for _, m := range rows {
		out = append(append(out, m.m.line()...), '\n')
	}
	return out
}

// rewriteExtended writes the transcript t anew, byte for byte, with tail, the lines of
// rows, at its end. The former transcript becomes the backup.
func (tx *transaction) rewriteExtended(t *transcript, rows []Message, tail []byte) error {
	c := t.cached
	if !c.ended {
		tail = append([]byte{'\n'}, tail...)
	}
	tx.dir.Sweep()
	set := writtenAt(c.main.Mtime)
	done, err := tx.file(sessiondir.Transcript).Replace(commit.Replacement{
		Was:    c.main,
		Time:   set,
		Write:  func(out io.Writer) error { return tx.copyExtended(out, c, tail) },
		Rotate: func() (bool, error) { return tx.rotateTranscript(t) },
	})
	if errors.Is(err, commit.ErrOverwritten) {
		return tx.writeRows(nil, slices.Concat(c.rows, rows))
	}
	if err != nil {
		return err
	}
	tx.noteRename(sessiondir.Transcript)
	more := c.extended(rows, tail)
	more.backup = done.Backup
	return tx.putAppended(c, more, set, done)
}

// copyExtended copies the transcript's file to out, and writes tail after it. The
// error is [commit.ErrOvertaken] when the file is not c any more.
func (tx *transaction) copyExtended(out io.Writer, c *cachedTranscript, tail []byte) error {
	src, at, err := tx.dir.Open(sessiondir.Transcript)
	if err != nil {
		return err
	}
	if !at.SameContent(c.main) {
		return joinErrors(commit.ErrOvertaken, src.Close())
	}
	_, err = io.CopyN(out, src, c.size)
	if errors.Is(err, io.EOF) { // it was truncated in between
		err = commit.ErrOvertaken
	}
	if err := joinErrors(err, src.Close()); err != nil {
		return err
	}
	_, err = out.Write(tail)
	return err
}

// maxRetries is the number of times that a write begins anew because a writer that takes
// no lock came between.
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

// rotate prepares the replacement of main, and reports whether main becomes the
// backup. A sound main does, unless the backup was read in its place: that backup
// stays. rotate quarantines damaged files, and a backup with content that an
// empty main would replace.
func (tx *transaction) rotate(main, backup *file, from origin) (rotates bool, err error) {
	switch {
	case main.sound() && from != fromBackup:
		if main.stamp.Size == 0 && backup.found && (backup.bad != nil || len(backup.data) > 0) {
			err = tx.quarantine(backup, tx.dir.Quarantine)
		}
		return true, err
	case main.bad != nil:
		err = tx.quarantine(main, tx.dir.QuarantineLinked)
	}
	if err == nil && backup.bad != nil {
		err = tx.quarantine(backup, tx.dir.Quarantine)
	}
	return false, err
}

// quarantine gives f another name by aside, under which no save changes it:
// [sessiondir.Dir.Quarantine], or, for a file whose own name goes to another file in one
// step, [sessiondir.Dir.QuarantineLinked].
func (tx *transaction) quarantine(f *file, aside func(name string) (string, error)) error {
	name, err := aside(f.name)
	if err != nil {
		return fmt.Errorf("put damaged %s aside: %w", f.name, err)
	}
	tx.namesChanged = true
	tx.st.log.Warn("put damaged file aside", "session", tx.id, "file", name)
	return nil
}

// noteAppend notes in the index that an append turned the transcript was of s into now.
// The append does not fail because of the index.
func (st *Store) noteAppend(s *session, was, now *cachedTranscript) {
	if was.size < index.LargeFrom || now.writtenTime.IsZero() || !st.reliesOnTimes() {
		return
	}
	if s.rowsFile == "" {
		s.rowsFile = sessiondir.Bookkeeping + "/" + indexDir + "/" + index.RowsName(s.id)
	}
	if _, regular, err := st.base.Stat(s.rowsFile, "."); err != nil || !regular {
		return // no caller has asked for parts of this session
	}
	a := index.Append{Was: was.main, Now: now.main, Wrote: !was.writtenTime.IsZero()}
	if err := st.index().NoteAppend(s.id, a); err != nil {
		st.log.Debug("append not noted in index", "session", s.id, "err", err)
	}
}
