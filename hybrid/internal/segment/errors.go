package segment

import (
	"errors"
	"fmt"
)

// What callers branch on.
var (
	ErrFormat  = errors.New("a format that this version of the library neither reads nor changes")
	ErrNewer   = errors.New("written by a newer version") // Is ErrFormat too, see formatError
	ErrForeign = errors.New("not a document of this store")
	ErrDamaged = errors.New("damaged")
	ErrGap     = errors.New("records are missing")
	ErrOffside = errors.New("the place is not in this history")
)

// A DamageError tells which records cannot be read because of a document that
// is there but does not hold what it should. It is an [ErrDamaged].
type DamageError struct {
	Stream   Stream
	From, To int64 // records From up to To, without To
	ID       string
	Cause    error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("read segment %s, records %d up to %d of stream %s: %v", e.ID, e.From, e.To, e.Stream, e.Cause)
}

// Unwrap makes the error an ErrDamaged, and what caused it.
func (e *DamageError) Unwrap() []error { return []error{ErrDamaged, e.Cause} }

// A GapError tells which records no segment holds. It is an [ErrGap]. When a
// segment that would hold some of them was damaged, Damage tells which one,
// and the error is an [ErrDamaged] too.
type GapError struct {
	Stream   Stream
	From, To int64 // records From up to To, without To
	Damage   *DamageError
}

func (e *GapError) Error() string {
	text := fmt.Sprintf("read stream %s: no segment for records %d up to %d", e.Stream, e.From, e.To)
	if e.Damage != nil {
		text += ": " + e.Damage.Error()
	}
	return text
}

// Unwrap makes the error an ErrGap, and the damage if there was some.
func (e *GapError) Unwrap() []error {
	if e.Damage == nil {
		return []error{ErrGap}
	}
	return []error{ErrGap, e.Damage}
}
