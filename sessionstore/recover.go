package sessionstore

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// Recovery reports that a backup was read because the file itself is damaged.
type Recovery struct {
	Path   string // the damaged file
	From   string // the file that was read instead
	Kept   string // where the next save puts the damaged bytes; empty: there are none
	Beyond int    // number of whole messages of the damaged file after the messages that were read; [Store.Salvage] brings them back
	Reason error
}

// transcript is the conversation as it was read, with the faults of its files.
type transcript struct {
	main, backup  file
	from          origin
	rows          []Message
	appendPending bool // a newer Python tool is appending, so main was not read
	recovered     *Recovery
	damage        error             // both are damaged: rows are the readable ones
	gone          bool              // damage means that both are missing; see [transcript.missing]
	unread        error             // the reason why the system did not let a decisive file be read; see [file]
	cached        *cachedTranscript // nil unless main is sound and was read
}

// origin names the file that was read: main or its backup.
type origin uint8

const (
	fromNothing origin = iota // neither file is there
	fromMain
	fromBackup
)

// revision identifies the content that was read.
func (t *transcript) revision() Revision {
	switch {
	case t.cached != nil:
		return t.cached.revision()
	case t.from == fromMain:
		return revisionOf(len(t.rows), t.main.data)
	case t.from == fromBackup:
		return revisionOf(len(t.rows), t.backup.data)
	}
	return Revision{}
}

// readTranscript reads the transcript with the reference's recovery: the
// backup is read when the file is damaged or missing. It is also read
//   - while a newer Python tool's marker is there,
//   - when the file is empty and was not emptied on purpose; see [emptyByChance].
//
// Where nothing may replace a file, see [noBackup], unread is the error.
func readTranscript(dir *sessiondir.Dir, md Metadata) transcript {
	t := readEither(dir, md)
	t.unread = cmp.Or(t.unread, t.main.unread, t.backup.unread)
	if noBackup(t.unread) {
		return transcript{unread: t.unread, damage: t.unread}
	}
	if err := t.missing(md); err != nil {
		t.damage, t.gone = err, true
	}
	return t
}

// readEither is readTranscript without regard to the reason why a file could not be read.
func readEither(dir *sessiondir.Dir, md Metadata) transcript {
	pending, err := appendPending(dir)
	if err != nil {
		return transcript{unread: err, damage: err}
	}
	t := transcript{appendPending: pending}
	if t.appendPending {
		t.readPending(dir)
		return t
	}
	t.main = readMain(dir)
	t.rows = t.main.parseRows()
	t.from = fromMain
	if t.main.sound() && len(t.main.data) > 0 {
		return t
	}
	t.backup = readFile(dir, sessiondir.Backup(sessiondir.Transcript))
	rows := t.backup.parseRows()
	switch {
	case t.main.sound():
		t.readEmpty(dir, rows, md)
	case t.backup.sound():
		t.useBackup(dir, rows, nil)
	case t.main.found || t.backup.found:
		t.damage = errors.Join(asError(t.main.bad), asError(t.backup.bad))
		if len(rows) > len(t.rows) {
			t.rows, t.from = rows, fromBackup
		}
	default:
		t.from = fromNothing
	}
	return t
}

// readEmpty uses rows, the messages of the backup, if the file is empty by chance. When
// readEmpty cannot decide this, nothing may be written.
func (t *transcript) readEmpty(dir *sessiondir.Dir, rows []Message, md Metadata) {
	if !t.backup.sound() || len(rows) == 0 {
		return
	}
	lost, err := emptyByChance(dir, &t.main, &t.backup, md)
	if err != nil {
		t.unread = unreadError(t.main.path, err)
	}
	if lost {
		t.useBackup(dir, rows, errEmptied)
	}
}

// appendPending reports whether the marker of a newer Python tool's append exists.
// Anything with the marker's name counts, whatever it holds.
func appendPending(dir *sessiondir.Dir) (bool, error) {
	_, err := dir.Stat(sessiondir.Marker)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for %s: %w", dir.Path(sessiondir.Marker), cause(err))
	}
	return true, nil
}

// mayBeAppending reports whether the marker is there or cannot be looked for.
func mayBeAppending(dir *sessiondir.Dir) bool {
	pending, err := appendPending(dir)
	return pending || err != nil
}

// readPending reads the backup alone, since the file holds half an append.
func (t *transcript) readPending(dir *sessiondir.Dir) {
	path := dir.Path(sessiondir.Transcript)
	t.main = file{name: sessiondir.Transcript, path: path, found: true}
	t.backup = readFile(dir, sessiondir.Backup(sessiondir.Transcript))
	t.rows = t.backup.parseRows()
	t.from = fromBackup
	if t.backup.sound() {
		t.recovered = recovery(dir, &t.main, &t.backup, errAppending)
		return
	}
	bad := t.backup.bad
	if bad == nil {
		bad = &CorruptError{Path: t.backup.path, Err: fs.ErrNotExist}
	}
	t.damage = errors.Join(errAppending, bad)
}

var errAppending = errors.New("another tool is appending, or was interrupted while it did")

// useBackup takes the rows of the backup. It reports a recovery when main is
// damaged or a reason is given. A missing main alone is no recovery: there may
// never have been one.
func (t *transcript) useBackup(dir *sessiondir.Dir, rows []Message, reason error) {
	whole := t.rows
	t.rows, t.from = rows, fromBackup
	if t.main.bad != nil {
		reason = t.main.bad
	}
	if reason != nil {
		t.recovered = recovery(dir, &t.main, &t.backup, reason)
	}
	if t.main.bad != nil {
		t.recovered.Beyond = len(rowsBeyond(whole, rows))
	}
}

// recovery returns the report that backup was read in the place of main.
func recovery(dir *sessiondir.Dir, main, backup *file, reason error) *Recovery {
	r := &Recovery{Path: main.path, From: backup.path, Reason: reason}
	if main.bad != nil {
		r.Kept = strings.TrimSuffix(main.path, main.name) + dir.QuarantineName(main.name)
	}
	return r
}

// asError returns err as an error, and nil for a nil pointer.
func asError(err *CorruptError) error {
	if err == nil {
		return nil
	}
	return err
}

// joinRecovery returns first, or second when first is nil. If both are given, it joins
// their reasons.
func joinRecovery(first, second *Recovery) *Recovery {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	both := *first
	both.Reason = errors.Join(first.Reason, second.Reason)
	return &both
}

// A transcript that does not exist, though the metadata counts turns, was taken away: a
// program that copies folders to other devices has put a placeholder or the other
// device's version in its place, or a user removed it.
var errMissing = errors.New("the file and its backup are missing, but the metadata counts turns")

// missing returns the error for a transcript without any file, nil where there may never
// have been one.
func (t *transcript) missing(md Metadata) error {
	if turns, _ := md.Int("turn_count"); t.from != fromNothing || t.damage != nil || turns <= 0 {
		return nil
	}
	return &CorruptError{Path: t.main.path, Err: errMissing}
}
