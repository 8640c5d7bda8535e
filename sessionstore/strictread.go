package sessionstore

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// strictHalf is a file and its backup as the newer tools choose between them.
type strictHalf struct {
	name         string // "transcript" or "metadata"
	main, backup file
	from         origin
	reason       error // why main was not looked at
	diagnostics  []Diagnostic
}

// readStrictTranscript returns the messages of a session. The error is a
// [*StrictError].
func readStrictTranscript(dir *sessiondir.Dir) (*strictHalf, []Message, error) {
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
	err = h.read(dir, sessiondir.Transcript, func(f *file) { rows = f.strictRows() })
	return h, rows, err
}

// readStrictMetadata returns the metadata of a session. The error is a
// [*StrictError].
func readStrictMetadata(dir *sessiondir.Dir) (*strictHalf, Metadata, error) {
	h := &strictHalf{name: metadataHalf}
	var md Metadata
	err := h.read(dir, sessiondir.Metadata, func(f *file) { md = f.strictMetadata() })
	return h, md, err
}

// read reads the file name or its backup. parse keeps what it reads of a file
// and marks one that it refuses.
func (h *strictHalf) read(dir *sessiondir.Dir, name string, parse func(*file)) error {
	h.main = file{name: name, path: dir.Path(name)}
	if h.reason == nil {
		h.main = readFile(dir, name)
		if h.accepts(&h.main, h.name, parse) {
			h.from = fromMain
			return nil
		}
		if noBackup(h.main.unread) { // the backup must not stand in
			return &StrictError{Source: h.name, Diagnostics: h.diagnostics, Err: h.main.unread}
		}
	}
	h.backup = readFile(dir, sessiondir.Backup(name))
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

// accepts reports whether f is there and sound, and notes why it is not.
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

// revision identifies what was read, in so many rows.
func (h *strictHalf) revision(rows int) Revision {
	switch h.from {
	case fromMain:
		return revisionOf(rows, h.main.data)
	case fromBackup:
		return revisionOf(rows, h.backup.data)
	}
	return Revision{}
}

// recovery returns what there is to tell when the backup counts because the
// file is damaged; one that is missing may never have been there.
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

// asciiSpace is what the newer tools take off a line to see if it is blank.
const asciiSpace = " \t\r\v\f"

// strictRows returns the messages of f, or none and marks f damaged at the
// first line that the newer tools refuse.
func (f *file) strictRows() []Message {
	slab := make([]message, 0, jsonl.Count(f.data)) // never grows: a line is one message at most
	rows := make([]Message, 0, cap(slab))
	plain := utf8.Valid(f.data)
	for line := range jsonl.Lines(f.data) {
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

// normalized returns a value that the newer tools can read as one that the older
// can read, too: without a byte order mark, and with escapes for surrogates
// that stand as three bytes. Of a value that is plain nothing is copied.
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
