package sessionstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
)

// file is one file of a session as it was read.
type file struct {
	name  string
	path  string // for errors
	found bool
	data  []byte
	stamp sessiondir.Stamp
	bad   *CorruptError // nil: sound, or not found

	barred bool // it is bad because it is no regular file, leads out of the sessions directory or may not be read

	// unread is the reason why the system did not let the file be read, which may be
	// sound: nothing may be written in its place. Nil: it was read, or is no file.
	unread error
}

func (f *file) sound() bool { return f.found && f.bad == nil }

// readFile reads the file name of dir. For callers that only read, a file that cannot be
// read is damaged.
func readFile(dir *sessiondir.Dir, name string) file {
	return readFileUntil(context.Background(), dir, name)
}

// readFileUntil is readFile of a large file. When ctx ends, the file is damaged: the caller
// looks at ctx.
func readFileUntil(ctx context.Context, dir *sessiondir.Dir, name string) file {
	f := file{name: name, path: dir.Path(name), found: true}
	data, stamp, err := dir.ReadUntil(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.found = false
	case err != nil:
		f.bad, f.barred = &CorruptError{Path: f.path, Err: vfs.Cause(err)}, true
		if refusedBySystem(err) {
			f.unread = unreadError(f.path, err)
		}
	}
	f.data, f.stamp = data, stamp
	return f
}

// barred returns the reason why one of files, the files of a session, could not be read
// at all, or unread if that is true of none.
func barred(unread error, files ...*file) error {
	for _, f := range files {
		if f.barred {
			return f.bad
		}
	}
	return unread
}

// refusedBySystem reports whether a regular file was not read although it may be
// sound. The next attempt may succeed.
func refusedBySystem(err error) bool {
	var errno syscall.Errno
	return noBackup(err) ||
		errors.As(err, &errno) && errno != syscall.ELOOP && errno != syscall.ENXIO && !errors.Is(err, vfs.ErrNotRegular)
}

// noBackup reports whether err forbids reading the backup, which is older, in place of a
// file that could not be read: the process or the system lacks a resource that every read
// needs, the file is too large for the program, or another program does not share it.
func noBackup(err error) bool {
	return noDescriptor(err) || errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.EINTR) || errors.Is(err, limits.ErrTooLarge) || errors.Is(err, vfs.ErrInUse)
}

func unreadError(path string, err error) error {
	return fmt.Errorf("read %s: %w (nothing was written, since the file may be whole)", path, vfs.Cause(err))
}

// parseMetadata returns the metadata in f, and marks f damaged when it holds
// something else.
func (f *file) parseMetadata() Metadata {
	if !f.sound() {
		return Metadata{}
	}
	md, err := ParseMetadata(f.data)
	if errors.As(err, &f.bad) {
		f.bad.Path = f.path
	}
	return md
}

// An empty transcript beside a backup with rows was emptied on purpose, or a
// power cut took the content of a file that was not synced. The first line of
// this table that fits decides; emptyByChance is the table.
//
//	this library emptied it: its time says so, or the
//	bookkeeping, where a clock's steps are coarse     on purpose
//	the session was rewound when the backup was made,
//	or later: a copy from before the rewind is there  on purpose
//	the metadata counts turns                         by chance
//	the metadata counts no turns: turn_count is 0     on purpose
//	it was written after the backup got its name and
//	its time: Python's save([]), which copies first   on purpose
//	else                                              by chance
//
// The last but one line holds where the file system records the time at which a file got
// its name. This library gives a file its time some milliseconds before the backup gets
// its name.
//
// With an error the first two lines could not be decided, and the others decided.
func emptyByChance(dir *sessiondir.Dir, main, backup *file, md Metadata) (bool, error) {
	meant, err := dir.MeantEmpty(main.stamp)
	if meant {
		return false, nil
	}
	before, rerr := rewound(dir, backup.stamp.Mtime)
	if before {
		return false, nil
	}
	err = cmp.Or(err, rerr)
	if turns, counted := md.Int("turn_count"); counted {
		return turns > 0, err
	}
	return main.stamp.Mtime.Before(backup.stamp.Ctime), err
}

var errEmptied = errors.New("the file is empty, but nobody emptied it on purpose")

// How long an empty transcript is read again, and how old its emptiness may be for that:
// an old tool that opened it before it was replaced may have emptied it for an instant.
const (
	emptyRecent = 2 * time.Second
	emptyLimit  = 200 * time.Millisecond
	emptyPause  = 5 * time.Millisecond
)

// readMain reads the transcript. If the transcript was emptied just now, beside a backup
// that is not empty and without the sign that this was meant, readMain reads it again
// until it has content or some time has passed.
func readMain(ctx context.Context, dir *sessiondir.Dir) file {
	f := readFileUntil(ctx, dir, sessiondir.Transcript)
	if !emptiedNow(dir, &f) {
		return f
	}
	for until := time.Now().Add(emptyLimit); emptiedNow(dir, &f) && time.Now().Before(until); {
		time.Sleep(emptyPause)
		f = readFileUntil(ctx, dir, sessiondir.Transcript)
	}
	return f
}

func emptiedNow(dir *sessiondir.Dir, f *file) bool {
	if !f.sound() || len(f.data) > 0 || time.Since(f.stamp.Mtime) > emptyRecent {
		return false
	}
	if meant, err := dir.MeantEmpty(f.stamp); meant || err != nil {
		return false
	}
	backup, err := dir.Stat(sessiondir.Backup(sessiondir.Transcript))
	return err == nil && backup.Size > 0
}

// rewound reports whether the session was rewound at the time of its backup or later. The
// rewinding tools put the time into the name of the copy that they keep.
func rewound(dir *sessiondir.Dir, backup time.Time) (bool, error) {
	names, err := dir.Names()
	if err != nil {
		return false, fmt.Errorf("list %s: %w", dir.Path("."), vfs.Cause(err))
	}
	return slices.ContainsFunc(names, func(name string) bool {
		k, ok := sessiondir.ParseKept(name)
		return ok && k.File == sessiondir.Transcript && k.Label == sessiondir.LabelRewind && !k.Time.Add(2*time.Second).Before(backup)
	}), nil
}

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
// Where nothing may replace a file, see [noBackup], unread is the error, and so it is when
// ctx ends.
func readTranscript(ctx context.Context, dir *sessiondir.Dir, md Metadata) transcript {
	t := readEither(ctx, dir, md)
	if err := ctx.Err(); err != nil {
		return transcript{unread: err, damage: err}
	}
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
func readEither(ctx context.Context, dir *sessiondir.Dir, md Metadata) transcript {
	pending, err := appendPending(dir)
	if err != nil {
		return transcript{unread: err, damage: err}
	}
	t := transcript{appendPending: pending}
	if t.appendPending {
		t.readPending(ctx, dir)
		return t
	}
	t.main = readMain(ctx, dir)
	t.rows = t.main.parseRows(ctx)
	t.from = fromMain
	if t.main.sound() && len(t.main.data) > 0 {
		return t
	}
	t.backup = readFileUntil(ctx, dir, sessiondir.Backup(sessiondir.Transcript))
	rows := t.backup.parseRows(ctx)
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
		return false, fmt.Errorf("look for %s: %w", dir.Path(sessiondir.Marker), vfs.Cause(err))
	}
	return true, nil
}

// mayBeAppending reports whether the marker is there or cannot be looked for.
func mayBeAppending(dir *sessiondir.Dir) bool {
	_, err := dir.Stat(sessiondir.Marker)
	return !errors.Is(err, fs.ErrNotExist)
}

// readPending reads the backup alone, since the file holds half an append.
func (t *transcript) readPending(ctx context.Context, dir *sessiondir.Dir) {
	path := dir.Path(sessiondir.Transcript)
	t.main = file{name: sessiondir.Transcript, path: path, found: true}
	t.backup = readFileUntil(ctx, dir, sessiondir.Backup(sessiondir.Transcript))
	t.rows = t.backup.parseRows(ctx)
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
