package foreign

import (
	"errors"
	"fmt"
)

// The kinds of errors. Callers tell them apart with [errors.Is].
var (
	ErrTool    = errors.New("unknown tool")
	ErrChanged = errors.New("what it began with changed during the import")
	ErrEmpty   = errors.New("it holds no conversation")
	ErrWhole   = errors.New("the session holds the whole line")
	ErrActive  = errors.New("it holds no whole line of an imported conversation")
	ErrEdited  = errors.New("the imported messages were changed here")
)

// LineError tells what is wrong with a line of the tool's file. It has no text of
// the line.
type LineError struct {
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns what is wrong with the line.
func (e *LineError) Unwrap() error { return e.Err }

var errNoObject = errors.New("it is no JSON object")

// errDiffers ends a rendering that the session differs from.
var errDiffers = errors.New("the session differs")
