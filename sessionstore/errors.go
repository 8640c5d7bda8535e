package sessionstore

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// What callers branch on, with [errors.Is].
var (
	ErrNotFound   error = fs.ErrNotExist
	ErrClosed     error = fs.ErrClosed
	ErrInvalidID        = errors.New("invalid session id")
	ErrConflict         = errors.New("transcript changed since it was read")
	ErrLocked           = errors.New("session is locked")
	ErrFenced           = errors.New("session is being transferred")
	ErrUnstorable       = errors.New("value cannot be stored in a transcript")
	ErrCorrupt          = errors.New("session is damaged")
)

// Error tells which call failed on which session. Unwrap gives the cause.
type Error struct {
	Op      string // "save", "load", …
	Session string // empty when no one session is concerned
	Err     error
}

func (e *Error) Error() string {
	if e.Session == "" {
		return fmt.Sprintf("sessionstore: %s: %v", e.Op, e.Err)
	}
	return fmt.Sprintf("sessionstore: %s session %q: %v", e.Op, e.Session, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// wrap puts op and id around err, unless err already tells what failed in the
// reference's words or ours.
func wrap(op, id string, err error) error {
	if err == nil {
		return nil
	}
	switch err.(type) {
	case *Error, *textError, *AmbiguousError:
		return err
	}
	return &Error{Op: op, Session: id, Err: err}
}

// also adds what failed while err was on its way out.
func also(err, other error) error {
	switch {
	case other == nil:
		return err
	case err == nil:
		return other
	}
	return errors.Join(err, other)
}

// textError is an error whose whole text is the reference's.
type textError struct {
	text string
	is   error
}

func (e *textError) Error() string { return e.text }
func (e *textError) Unwrap() error { return e.is }

func notFound(id string) error {
	return &textError{"Session '" + id + "' not found", ErrNotFound}
}

// CorruptError tells what is damaged and where. It Is [ErrCorrupt], and Err
// is what was wrong there.
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

// Unwrap returns what was wrong.
func (e *CorruptError) Unwrap() error { return e.Err }

// AmbiguousError tells that a prefix fits several sessions. Its text is the
// reference's and names the first three.
type AmbiguousError struct {
	Prefix  string
	Matches []string // in the order of List; of Resolve: directories, by project
	text    string   // of Resolve
}

const (
	shownMatches = 3
	shownRunes   = 12
)

func (e *AmbiguousError) Error() string {
	if e.text != "" {
		return e.text
	}
	shown := make([]string, 0, shownMatches)
	for _, id := range e.Matches[:min(shownMatches, len(e.Matches))] {
		shown = append(shown, firstRunes(id, shownRunes)+"...")
	}
	text := fmt.Sprintf("Ambiguous session ID '%s' matches %d sessions: %s", e.Prefix, len(e.Matches), strings.Join(shown, ", "))
	if more := len(e.Matches) - shownMatches; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
