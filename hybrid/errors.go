package hybrid

import (
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// What callers branch on, with [errors.Is].
var (
	// ErrNoContainer tells that the store was opened without a container.
	ErrNoContainer = errors.New("no container: the store is local only")
	// ErrBlocked tells that the account refuses every request, as with a wrong
	// key, a missing container or an exhausted quota. Nothing is dropped; the
	// worker asks again every 15 minutes, and each explicit call does.
	ErrBlocked = errors.New("the account refuses requests")
	// ErrClock tells that requests are refused because this machine's clock is
	// wrong. It Is ErrBlocked too.
	ErrClock = errors.New("clock differs from the account's")
	// ErrUnreachable tells that the account did not answer, or not well.
	ErrUnreachable = errors.New("the account cannot be reached")
	// ErrLimit tells that a limit of [Limits] for the day is used up.
	ErrLimit = errors.New("limit of request units reached")
	// ErrNewer tells that a document was written by a newer version of this
	// library. It is left alone.
	ErrNewer = segment.ErrNewer
	// ErrForeign tells that a document is none that this library wrote.
	ErrForeign = segment.ErrForeign
	// ErrDamaged tells that lines in the cloud are missing or not what their
	// hash says; see [Store.Verify] and [Store.Repair].
	ErrDamaged = errors.New("copy in the cloud is damaged")
	// ErrDeleted tells that the session was deleted in the cloud.
	ErrDeleted = errors.New("session was deleted in the cloud")
	// ErrRedaction tells that the copy was made by other redaction rules.
	ErrRedaction = errors.New("copy has other redaction rules")
	// ErrDeferred tells that a session cannot be synced just now, since its
	// files are in doubt or somebody writes them.
	ErrDeferred = errors.New("session is deferred")
	// ErrContended tells that other devices won the tip too many times.
	ErrContended = errors.New("other devices keep changing the session")
	// ErrShared tells that sessions forked from this one need its lines.
	ErrShared = errors.New("other sessions continue this one")
)

// Error tells which call failed on which session. Unwrap gives the cause.
type Error struct {
	Op      string // "sync", "pull", …
	Session string // empty when no one session is concerned
	Err     error
}

func (e *Error) Error() string {
	if e.Session == "" {
		return fmt.Sprintf("hybrid: %s: %v", e.Op, e.Err)
	}
	return fmt.Sprintf("hybrid: %s session %q: %v", e.Op, e.Session, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

func wrap(op, id string, err error) error {
	if err == nil {
		return nil
	}
	if e := (*Error)(nil); errors.As(err, &e) {
		return err
	}
	return &Error{Op: op, Session: id, Err: err}
}
