package archive

import (
	"errors"
	"fmt"
)

// The kinds of errors. Callers tell them apart with [errors.Is]. Two further
// ones are fs.ErrExist, when the store has a session of that id already, and
// [sessionstore.ErrInvalidID], when no session can have the id.
//
// [sessionstore.ErrInvalidID]: https://pkg.go.dev/github.com/amplifier-go/sessionstorage/sessionstore#ErrInvalidID
var (
	ErrFormat     = errors.New("neither an archive nor lines of a transcript")
	ErrNoSession  = errors.New("it holds neither transcript.jsonl nor metadata.json")
	ErrTruncated  = errors.New("it is cut off")
	ErrNotRegular = errors.New("no regular file")
	ErrPath       = errors.New("not a path inside of a session")
	ErrTwice      = errors.New("there twice")
	ErrOneSession = errors.New("the format holds exactly one session")
	ErrRedacted   = errors.New("the redactor returned no line of the kind that it got")
	ErrNoMessage  = errors.New("it is no message")
)

// EntryError tells that an entry of an archive or a file of a directory was
// refused. Err Is [ErrNotRegular], [ErrPath], [ErrTwice] or an error of the file
// system.
type EntryError struct {
	Name string
	Err  error
}

func (e *EntryError) Error() string { return fmt.Sprintf("%q is %v", e.Name, e.Err) }

// Unwrap returns why the entry was refused.
func (e *EntryError) Unwrap() error { return e.Err }

// LineError tells that a line of JSONL is no message. It Is [ErrNoMessage], and
// Err tells what is wrong; neither has text of the line.
type LineError struct {
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Is reports whether target is [ErrNoMessage].
func (e *LineError) Is(target error) bool { return target == ErrNoMessage }

// Unwrap returns what is wrong with the line.
func (e *LineError) Unwrap() error { return e.Err }

// LimitError tells that an archive holds more than [ReadOptions] allow.
type LimitError struct {
	What string // sessions, entries or bytes
	Max  int64
}

func (e *LimitError) Error() string {
	if e.What == "sessions" && e.Max == 1 {
		return "it holds more than one session"
	}
	return fmt.Sprintf("it holds more than %d %s", e.Max, e.What)
}
