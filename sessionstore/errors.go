package sessionstore

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// The kinds of errors, to use with [errors.Is].
var (
	ErrNotFound   error = fs.ErrNotExist
	ErrClosed     error = fs.ErrClosed
	ErrInvalidID        = errors.New("invalid session id")
	ErrConflict         = errors.New("transcript changed since it was read")
	ErrLocked           = errors.New("session is locked")
	ErrFenced           = errors.New("session is being transferred")
	ErrUnstorable       = errors.New("value cannot be stored in a transcript")
	ErrCorrupt          = errors.New("session is damaged")
	ErrWindow           = errors.New("these messages are the end of the stored transcript, and a save would lose its beginning: Append the new ones, or Replace it with its revision")
)

// Error names the failed call and its session. Unwrap returns the cause.
type Error struct {
	Op      string // "save", "load", …
	Session string // empty when no one session is concerned; of an id that is longer than 255 bytes, the beginning
	Err     error
}

func (e *Error) Error() string {
	if e.Session == "" {
		return fmt.Sprintf("sessionstore: %s: %v", e.Op, e.Err)
	}
	return fmt.Sprintf("sessionstore: %s session %q: %v", e.Op, shown(e.Session), e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

var errClosed = limits.Errorf(ErrClosed, "the store is closed")

// wrap makes err an [*Error] with op and id. It returns an error unchanged that already
// names the failed call.
func wrap(op, id string, err error) error {
	if err == nil {
		return nil
	}
	switch err.(type) {
	case *Error, *AmbiguousError:
		return err
	}
	if limits.IsReference(err) {
		return err
	}
	if noDescriptor(err) {
		err = fmt.Errorf("%w; close files of this program, or let it open more (ulimit -n), and call again", err)
	}
	if len(id) > maxIDBytes {
		id = shown(id)
	}
	return &Error{Op: op, Session: id, Err: err}
}

// noDescriptor reports whether err means that the process, or the system, had no free file
// descriptor.
func noDescriptor(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// joinErrors is [errors.Join], but returns a single error as it is.
func joinErrors(err, other error) error {
	switch {
	case other == nil:
		return err
	case err == nil:
		return other
	}
	return errors.Join(err, other)
}

func notFound(id string) error {
	return limits.Reference(ErrNotFound, "Session '"+shown(id)+"' not found")
}

// CorruptError names a damaged place in a file. It Is [ErrCorrupt], and Err is the fault
// there.
type CorruptError struct {
	Path   string
	Line   int   // from 1; 0: the whole file
	Offset int64 // of the line, or of the fault in a file without lines
	Err    error
}

func (e *CorruptError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("read %s: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("read %s: line %d at byte %d: %v", e.Path, e.Line, e.Offset, e.Err)
}

// Is reports whether target is [ErrCorrupt].
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// Unwrap returns the fault.
func (e *CorruptError) Unwrap() error { return e.Err }

// Malformed reports whether the place holds text that is not JSON as the Amplifier
// tools read it: its syntax is bad, it has more than 1000 levels, or an integer of
// more than 4300 digits. It returns false for other damage: bytes that are not
// UTF-8, a value of another kind than the file needs, a file that cannot be read.
func (e *CorruptError) Malformed() bool {
	bad := (*pyjson.Error)(nil)
	return errors.As(e.Err, &bad) && bad.Reason != pyjson.BadUTF8
}

// AmbiguousError is the error for a prefix that fits several sessions. Its text is the
// text of the reference's store and names the first three; the error of projects.Resolve
// has the text of the reference's session finder, which names all.
type AmbiguousError struct {
	Prefix  string
	Matches []string // in the order of List; of projects.Resolve: directories, by project
}

const (
	shownMatches = 3
	shownRunes   = 12
)

func (e *AmbiguousError) Error() string {
	first := make([]string, 0, shownMatches)
	for _, id := range e.Matches[:min(shownMatches, len(e.Matches))] {
		first = append(first, limits.Runes(id, shownRunes)+"...")
	}
	text := fmt.Sprintf("Ambiguous session ID '%s' matches %d sessions: %s", shown(e.Prefix), len(e.Matches), strings.Join(first, ", "))
	if more := len(e.Matches) - shownMatches; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// shown returns id as errors show it: only the beginning of a long id.
func shown(id string) string { return limits.ID(id) }

// maxIDBytes is the longest name that file systems allow.
const maxIDBytes = 255

// unstorable makes err, the reason why a value cannot be written, an ErrUnstorable.
func unstorable(what string, err error) error {
	return fmt.Errorf("%s: %w: %w", what, ErrUnstorable, err)
}

// Diagnostic is a problem that [Store.LoadStrict] found in a file. It never holds
// content. The codes are
//
//	invalid_file         the file holds something else than it should
//	unreadable_file      the file is there and cannot be read
//	recovered_backup     the backup was read in the place of Source
//	interrupted_append   another tool's append was cut off: only the backup counts
//	changed_during_read  the file changed while the session was read
//
// and Source is one of transcript, transcript_backup, metadata,
// metadata_backup and, for the mark of an append, transcript_append.
type Diagnostic struct {
	Code   string `json:"code"`
	Source string `json:"source"`
	Line   int    `json:"line,omitempty"` // from 1; 0: none
}

const (
	invalidFile       = "invalid_file"
	unreadableFile    = "unreadable_file"
	recoveredBackup   = "recovered_backup"
	interruptedAppend = "interrupted_append"
	changedDuringRead = "changed_during_read"
)

// The sources that are halves of a session.
const (
	transcriptHalf = "transcript"
	metadataHalf   = "metadata"
	backupSuffix   = "_backup"
)

// StrictError is the error for a session whose transcript or metadata exists, but with
// neither file nor backup in a form that the newer Amplifier tools can use. It Is
// [ErrCorrupt], and its text is the text of the reference.
type StrictError struct {
	Source      string // "transcript" or "metadata"
	Diagnostics []Diagnostic
	Err         error // a [*CorruptError] for each file that was looked at
}

func (e *StrictError) Error() string {
	return "Cannot read valid session " + e.Source + " or its backup"
}

// Is reports whether target is [ErrCorrupt].
func (e *StrictError) Is(target error) bool { return target == ErrCorrupt }

// Unwrap returns the faults of the files.
func (e *StrictError) Unwrap() error { return e.Err }
