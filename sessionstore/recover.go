package sessionstore

import (
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// Recovery tells that a backup was read because the file itself is damaged.
type Recovery struct {
	Path   string // the damaged file
	From   string // what was read instead
	Kept   string // where the next save puts the damaged bytes; empty: there are none
	Reason error
}

// transcript is the conversation as it was read, with what was wrong.
type transcript struct {
	main, backup file
	from         source
	rows         []Message
	marked       bool // a newer Python tool is appending: main is not the truth
	unfinished   bool // backup is a later state of main that lost its name
	recovered    *Recovery
	damage       error      // both are damaged: rows are what could be read
	known        *knowledge // of a sound main that nothing stands in for
}

// source tells which file was read.
type source uint8

const (
	nowhere source = iota // neither is there
	fromMain
	fromBackup
)

// revision identifies what was read.
func (t *transcript) revision() Revision {
	switch {
	case t.known != nil:
		return t.known.revision()
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
//   - when it is a later state of the file, as a power cut may leave it, and
//     free tells that nobody is writing,
//   - when the file is empty but md counts turns, which a power cut leaves too,
//     unless this library emptied it, or the session was rewound after the
//     backup was made.
func readTranscript(dir *sessiondir.Dir, md Metadata, free func() bool) transcript {
	t := transcript{marked: marked(dir)}
	if t.marked {
		t.readMarked(dir)
		return t
	}
	t.main = readFile(dir, sessiondir.Transcript)
	t.rows = t.main.parseRows()
	t.from = fromMain
	if t.main.sound() && len(t.main.data) > 0 && !mayBeUnfinished(dir, t.main.stamp) {
		return t
	}
	t.backup = readFile(dir, sessiondir.Backup(sessiondir.Transcript))
	rows := t.backup.parseRows()
	switch {
	case t.main.sound():
		if t.backup.sound() && sessiondir.Unfinished(t.main.data, t.backup.data, t.main.stamp.Mtime, t.backup.stamp.Mtime) && free() {
			t.unfinished = true
			t.useBackup(dir, rows, errUnfinished)
			return t
		}
		turns, _ := md.Int("turn_count")
		if len(t.main.data) == 0 && t.backup.sound() && len(rows) > 0 && turns > 0 && !emptied(dir, &t) {
			t.useBackup(dir, rows, errEmptied)
		}
	case t.backup.sound():
		t.useBackup(dir, rows, nil)
	case t.main.found || t.backup.found:
		t.damage = errors.Join(asError(t.main.bad), asError(t.backup.bad))
		if len(rows) > len(t.rows) {
			t.rows, t.from = rows, fromBackup
		}
	default:
		t.from = nowhere
	}
	return t
}

// marked reports whether the marker of a newer Python tool is there. That
// anything has its name is the whole signal.
func marked(dir *sessiondir.Dir) bool {
	_, err := dir.Stat(sessiondir.Marker)
	return !errors.Is(err, fs.ErrNotExist)
}

// readMarked reads the backup alone: what the file holds is half an append.
func (t *transcript) readMarked(dir *sessiondir.Dir) {
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

// mayBeUnfinished reports whether the backup is larger than the main file,
// as an append leaves it until the names are swapped.
func mayBeUnfinished(dir *sessiondir.Dir, main sessiondir.Stamp) bool {
	backup, err := dir.Stat(sessiondir.Backup(sessiondir.Transcript))
	return err == nil && backup.Size > main.Size && sessiondir.Marked(backup.Mtime)
}

var (
	errAppending  = errors.New("another tool is appending, or was interrupted while it did")
	errUnfinished = errors.New("the last append lost its name in a power cut")
)

var errEmptied = errors.New("the file is empty although turns were counted")

// useBackup takes the backup's rows. Only a damaged file makes that a
// recovery: one that is missing may never have been there.
func (t *transcript) useBackup(dir *sessiondir.Dir, rows []Message, reason error) {
	t.rows, t.from = rows, fromBackup
	if t.main.bad != nil {
		reason = t.main.bad
	}
	if reason != nil {
		t.recovered = recovery(dir, &t.main, &t.backup, reason)
	}
}

func recovery(dir *sessiondir.Dir, main, backup *file, reason error) *Recovery {
	r := &Recovery{Path: main.path, From: backup.path, Reason: reason}
	if main.bad != nil {
		r.Kept = strings.TrimSuffix(main.path, main.name) + dir.AsideName(main.name)
	}
	return r
}

// asError avoids an error that holds a nil pointer.
func asError(err *CorruptError) error {
	if err == nil {
		return nil
	}
	return err
}

// emptied reports whether the empty main file of t is so on purpose.
func emptied(dir *sessiondir.Dir, t *transcript) bool {
	return sessiondir.MeantEmpty(t.main.stamp.Mtime) || rewound(dir, t.backup.stamp.Mtime)
}

const rewindPrefix = sessiondir.Transcript + ".bak-pre-rewind-"

// rewound reports whether the session was rewound at the time of its backup
// or later. The rewinding tools tell when in the name of the copy they keep.
func rewound(dir *sessiondir.Dir, backup time.Time) bool {
	for _, name := range dir.Names() {
		stamp, ok := strings.CutPrefix(name, rewindPrefix)
		if !ok {
			continue
		}
		at, err := time.Parse("20060102150405", stamp)
		if err != nil || !at.Add(2*time.Second).Before(backup) {
			return true
		}
	}
	return false
}
