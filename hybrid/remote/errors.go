package remote

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The errors of this package, for [errors.Is].
var (
	// ErrNotExist is returned when there is no such object.
	ErrNotExist = errors.New("there is no such object in the remote")
	// ErrUnchanged is returned when an object still has the known version.
	ErrUnchanged = errors.New("the object has not changed")
	// ErrChanged is returned when an object has another version than the swap expects.
	ErrChanged = errors.New("the object changed meanwhile")
	// ErrUnknown is returned when it is not known whether an object was replaced.
	ErrUnknown = errors.New("whether the object was replaced is not known")
	// ErrTooLarge is returned when the remote does not take an object of its size, and for
	// an object there that is larger than [MaxObject].
	ErrTooLarge = errors.New("the object is too large")
	// ErrFull is returned when a part has no room for an object. Other parts have.
	ErrFull = errors.New("the session has all that it may have in the remote: prune it, or go on in another session")
	// ErrBlocked is returned when the remote refuses all requests until a user acts.
	ErrBlocked = errors.New("the remote refuses requests")
	// ErrRefused is an ErrBlocked that is known of one request alone.
	ErrRefused = fmt.Errorf("%w: the request is refused", ErrBlocked)
	// ErrUnauthorized is returned when the identity has no right to the request, or not
	// yet.
	ErrUnauthorized = errors.New("the remote does not authorize the request, or not yet")
	// ErrClock is returned when requests are refused because the clock is wrong.
	ErrClock = errors.New("clock differs from the remote's")
	// ErrUnreachable is returned when the remote did not answer, or not well. It may be
	// an [Unreachable] or a [NoAnswer], which say more.
	ErrUnreachable = errors.New("the remote cannot be reached")
)

// Unreachable is an [ErrUnreachable] with its kind.
type Unreachable struct {
	Err   error
	Kind  Kind
	After time.Duration // the remote asks not to be asked before; 0: it says nothing
}

// Kind is the kind of an [Unreachable].
type Kind uint8

// The kinds of failures.
const (
	Failed    Kind = iota // no more than that
	Throttled             // the remote did not do it, since it is too busy
	Away                  // nothing answers there, or something else: no request arrives now
	Stale                 // a connection that had served before ended: the next one may be good
)

func (u *Unreachable) Error() string {
	if u.Kind == Failed || u.Kind == Throttled { // it may have answered
		return fmt.Sprintf("the remote does not serve requests now: %v", u.Err)
	}
	return fmt.Sprintf("%v: %v", ErrUnreachable, u.Err)
}

func (u *Unreachable) Unwrap() []error { return []error{ErrUnreachable, u.Err} }

// NoAnswer is the [ErrUnreachable] of a remote from which nothing came for a time. Like the end
// of a context by its deadline, it Is [context.DeadlineExceeded].
type NoAnswer time.Duration

func (in NoAnswer) Error() string {
	return fmt.Sprintf("%v: no answer in %v", ErrUnreachable, time.Duration(in))
}

// Is reports whether target is one of the two errors.
func (NoAnswer) Is(target error) bool {
	return target == ErrUnreachable || target == context.DeadlineExceeded
}
