package sessionstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// LoadStrict reads a session as strictly as the newer Amplifier tools. A transcript is
// damaged as a whole by any line that is neither blank nor a JSON object with a non-empty
// string role, in UTF-8 and without NaN and infinities; metadata must be one object by
// the same rules, except for the role. The backup replaces a file that is damaged or
// missing, and always replaces the transcript while an append is marked as under way. A
// line that only the newer tools can read, for its byte order mark or its raw surrogates,
// is returned in a form that all tools can read.
//
// The diagnostics list the problems found, in the newer tools' order. Those with the code
// changed_during_read ask for another try. Files that the newer tools fail on, because of
// very deep nesting, are invalid here.
//
// When a half exists but is unusable, the error Is [ErrCorrupt] and a [*StrictError], and
// nothing after that half is read: the session holds the half before it. LoadStrict takes
// no lock and never writes.
func (st *Store) LoadStrict(ctx context.Context, id string) (*Session, []Diagnostic, error) {
	start := st.clock()
	s, diagnostics, err := st.loadStrictly(ctx, id)
	return s, diagnostics, st.loaded(ctx, "load", start, s, id, err)
}

func (st *Store) loadStrictly(ctx context.Context, id string) (*Session, []Diagnostic, error) {
	err := st.admit(ctx)
	if err != nil {
		return nil, nil, wrap("load", id, err)
	}
	defer st.calls.Done()
	dir, err := st.openDir(id)
	if err != nil {
		return nil, nil, wrap("load", id, err)
	}
	s, diagnostics, err := loadStrict(ctx, dir, id)
	if s.Recovered != nil {
		st.log.Warn("read backup in place of damaged file", "session", id, "err", s.Recovered.Reason)
	}
	return s, diagnostics, wrap("load", id, joinErrors(err, dir.Close()))
}

func loadStrict(ctx context.Context, dir *sessiondir.Dir, id string) (*Session, []Diagnostic, error) {
	s := &Session{ID: id}
	before := strictStamps(dir)
	t, rows, err := readStrictTranscript(ctx, dir)
	if ctx.Err() != nil {
		return s, nil, ctx.Err()
	}
	s.Messages, s.Revision, s.Recovered = rows, t.revision(len(rows)), t.recovery(dir)
	if err != nil {
		return s, t.diagnostics, err
	}
	m, md, err := readStrictMetadata(dir)
	s.Metadata, s.Recovered = md, joinRecovery(s.Recovered, m.recovery(dir))
	diagnostics := slices.Concat(t.diagnostics, m.diagnostics)
	if err != nil {
		return s, diagnostics, err
	}
	return s, append(diagnostics, strictChanges(before, strictStamps(dir))...), nil
}

// strictFiles are the files that a strict read watches, by source, in the
// order of the diagnostics.
var strictFiles = [...]struct{ source, name string }{
	{transcriptHalf, sessiondir.Transcript},
	{transcriptHalf + backupSuffix, sessiondir.Backup(sessiondir.Transcript)},
	{metadataHalf, sessiondir.Metadata},
	{metadataHalf + backupSuffix, sessiondir.Backup(sessiondir.Metadata)},
	{"transcript_append", sessiondir.Marker},
}

// strictStamps returns the stamps of strictFiles, the zero stamp for a file
// that is not there.
func strictStamps(dir *sessiondir.Dir) (stamps [len(strictFiles)]sessiondir.Stamp) {
	for i, f := range strictFiles {
		if at, err := dir.Stat(f.name); err == nil {
			stamps[i] = at
		}
	}
	return stamps
}

// strictChanges returns the diagnostics for the files whose stamps differ.
func strictChanges(before, after [len(strictFiles)]sessiondir.Stamp) []Diagnostic {
	var changed []Diagnostic
	for i, f := range strictFiles {
		if !before[i].Same(after[i]) {
			changed = append(changed, Diagnostic{Code: changedDuringRead, Source: f.source})
		}
	}
	return changed
}

// strictHalf is a file and its backup as the newer tools choose between them.
type strictHalf struct {
	name         string // "transcript" or "metadata"
	main, backup file
	from         origin
	reason       error // the reason why main was not read
	diagnostics  []Diagnostic
}

// readStrictTranscript returns the messages of a session. The error is a
// [*StrictError]. When ctx ends, the result is of no use.
func readStrictTranscript(ctx context.Context, dir *sessiondir.Dir) (*strictHalf, []Message, error) {
	h := &strictHalf{name: transcriptHalf}
	pending, err := appendPending(dir)
	if err != nil {
		return h, nil, &StrictError{Source: h.name, Err: err}
	}
	if pending {
		h.reason = errAppending
		h.note(interruptedAppend, h.name, 0)
	}
	var rows []Message
	err = h.read(ctx, dir, sessiondir.Transcript, func(f *file) { rows = f.strictRows(ctx) })
	return h, rows, err
}

// readStrictMetadata returns the metadata of a session. The error is a
// [*StrictError].
func readStrictMetadata(dir *sessiondir.Dir) (*strictHalf, Metadata, error) {
	h := &strictHalf{name: metadataHalf}
	var md Metadata
	err := h.read(context.Background(), dir, sessiondir.Metadata, func(f *file) { md = f.strictMetadata() })
	return h, md, err
}

// read reads the file name or its backup. parse keeps the content of a file, or marks the
// file damaged if it refuses it.
func (h *strictHalf) read(ctx context.Context, dir *sessiondir.Dir, name string, parse func(*file)) error {
	h.main = file{name: name, path: dir.Path(name)}
	if h.reason == nil {
		h.main = readFileUntil(ctx, dir, name)
		if h.accepts(&h.main, h.name, parse) {
			h.from = fromMain
			return nil
		}
		if noBackup(h.main.unread) { // the backup must not replace main
			return &StrictError{Source: h.name, Diagnostics: h.diagnostics, Err: h.main.unread}
		}
	}
	h.backup = readFileUntil(ctx, dir, sessiondir.Backup(name))
	if h.accepts(&h.backup, h.name+backupSuffix, parse) {
		h.from = fromBackup
		h.note(recoveredBackup, h.name, 0)
		return nil
	}
	if h.reason == nil && !h.main.found && !h.backup.found {
		return nil
	}
	err := errors.Join(h.reason, asError(h.main.bad), asError(h.backup.bad))
	return &StrictError{Source: h.name, Diagnostics: h.diagnostics, Err: err}
}

// accepts reports whether f exists and is sound, and adds a diagnostic if it is not
// sound.
func (h *strictHalf) accepts(f *file, source string, parse func(*file)) bool {
	if !f.found {
		return false
	}
	if !f.sound() {
		h.note(unreadableFile, source, 0)
		return false
	}
	parse(f)
	if !f.sound() {
		h.note(invalidFile, source, f.bad.Line)
		return false
	}
	return true
}

func (h *strictHalf) note(code, source string, line int) {
	h.diagnostics = append(h.diagnostics, Diagnostic{Code: code, Source: source, Line: line})
}

// revision identifies the content that was read, with its number of rows.
func (h *strictHalf) revision(rows int) Revision {
	switch h.from {
	case fromMain:
		return revisionOf(rows, h.main.data)
	case fromBackup:
		return revisionOf(rows, h.backup.data)
	}
	return Revision{}
}

// recovery returns the Recovery when the backup counts because the file is damaged. A
// missing file may never have existed, and is no reason.
func (h *strictHalf) recovery(dir *sessiondir.Dir) *Recovery {
	if h.from != fromBackup {
		return nil
	}
	reason := h.reason
	if h.main.bad != nil {
		reason = h.main.bad
	}
	if reason == nil {
		return nil
	}
	return recovery(dir, &h.main, &h.backup, reason)
}

// asciiSpace is the white space that the newer tools strip from a line to see if it is
// blank.
const asciiSpace = " \t\r\v\f"

// strictRows returns the messages of f. It returns none and marks f damaged if the newer
// tools refuse a line. When ctx ends, some are missing.
func (f *file) strictRows(ctx context.Context) []Message {
	slab := make([]message, 0, jsonl.Count(f.data)) // never grows: a line is one message at most
	rows := make([]Message, 0, cap(slab))
	plain, look := utf8.Valid(f.data), int64(parsedAtOnce)
	for line := range jsonl.Lines(f.data) {
		if line.Offset >= look {
			if ctx.Err() != nil {
				return rows
			}
			look = line.Offset + parsedAtOnce
		}
		if len(bytes.Trim(line.Bytes, asciiSpace)) == 0 {
			continue
		}
		if err := checkStrictRow(line.Bytes); err != nil {
			f.bad = &CorruptError{Path: f.path, Line: line.Number, Offset: line.Offset, Err: err}
			return nil
		}
		raw := normalized(line.Bytes, plain)
		at := placesIn(raw)
		at.read = true
		slab = append(slab, message{raw: raw, places: at})
		rows = append(rows, Message{&slab[len(slab)-1]})
	}
	return rows
}

var errNoRole = errors.New("role is not a non-empty string")

// checkStrictRow returns why the newer tools refuse the line as a message.
func checkStrictRow(line []byte) error {
	if err := checkStrictObject(line); err != nil {
		return err
	}
	role, ok := pyjson.Lookup(line, "role")
	if !ok || pyjson.KindOf(role) != pyjson.String || len(role) == len(`""`) {
		return errNoRole
	}
	return nil
}

func checkStrictObject(b []byte) error {
	if err := pyjson.Check(b, pyjson.Strict); err != nil {
		return err
	}
	if pyjson.KindOf(b) != pyjson.Object {
		return errNotObject
	}
	return nil
}

// strictMetadata returns the metadata in f, or marks f damaged.
func (f *file) strictMetadata() Metadata {
	if err := checkStrictObject(f.data); err != nil {
		f.bad = &CorruptError{Path: f.path, Err: err}
		if at := (*pyjson.Error)(nil); errors.As(err, &at) {
			f.bad.Offset = int64(at.Offset)
		}
		return Metadata{}
	}
	return membersOf(pyjson.Trim(normalized(f.data, utf8.Valid(f.data))))
}

const byteOrderMark = "\xef\xbb\xbf"

// normalized returns a value for the newer tools in a form that the older tools can read,
// too: without a byte order mark, and with escapes for surrogates that are written as
// three bytes. It does not copy a plain value.
func normalized(value []byte, plain bool) []byte {
	value = bytes.TrimPrefix(value, []byte(byteOrderMark))
	if plain {
		return value
	}
	out := make([]byte, 0, len(value)+len(value)/8)
	for i := 0; i < len(value); {
		r, n := utf8.DecodeRune(value[i:])
		if r == utf8.RuneError && n == 1 && len(value)-i >= 3 {
			unit := rune(value[i]&0x0f)<<12 | rune(value[i+1]&0x3f)<<6 | rune(value[i+2]&0x3f)
			out = fmt.Appendf(out, `\u%04x`, unit)
			i += 3
			continue
		}
		out = append(out, value[i:i+n]...)
		i += n
	}
	return out
}
