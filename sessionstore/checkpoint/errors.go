package checkpoint

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// What callers branch on, with [errors.Is].
var (
	ErrVersion       = errors.New("unknown version of session-state.json") // of a newer program; it is left as it is
	ErrNotResumable  = errors.New("session cannot be resumed")
	ErrInvalidPhase  = errors.New("invalid phase")
	ErrInvalidOutput = errors.New("invalid output")
	ErrNotADirectory = errors.New("not a directory of its own") // a symlink or a file
)

// InvalidError tells everything that is wrong with a state. It Is [ErrVersion]
// when the version is another one.
type InvalidError struct {
	Violations []Violation
}

// freeNames is the object whose members have names that users choose.
const freeNames = "/user_context/biological_context"

// Error returns the first violation and the number of others. It has no name that a
// user chose, which may be content.
func (e *InvalidError) Error() string {
	first := e.Violations[0]
	if strings.HasPrefix(first.Pointer, freeNames+"/") {
		first = Violation{freeNames, first.Text + " for each member"}
	}
	if n := len(e.Violations) - 1; n > 0 {
		return fmt.Sprintf("invalid state: %s and %d more", first, n)
	}
	return fmt.Sprintf("invalid state: %s", first)
}

// Is reports whether the version is what target complains about.
func (e *InvalidError) Is(target error) bool {
	return target == ErrVersion && slices.Contains(e.Violations, Violation{"/version", "unknown value"})
}

func checkPhase(phase int) error {
	if phase < FirstPhase || phase > LastPhase {
		return fmt.Errorf("%w: %d", ErrInvalidPhase, phase)
	}
	return nil
}
