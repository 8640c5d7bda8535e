package remote

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// What callers branch on, with [errors.Is].
var (
	// ErrNotExist tells that there is no such object.
	ErrNotExist = errors.New("no such object in the cloud")
	// ErrUnchanged tells that an object still has the version that is known.
	ErrUnchanged = errors.New("the object has not changed")
	// ErrChanged tells that an object has another version than the one to be replaced.
	ErrChanged = errors.New("the object changed meanwhile")
	// ErrUnknown tells that it is not known whether an object was replaced.
	ErrUnknown = errors.New("whether the object was replaced is not known")
	// ErrTooLarge tells that the remote does not take an object of its size.
	ErrTooLarge = errors.New("the object is too large")
	// ErrFull tells that a part has no room for an object. Other parts have.
	ErrFull = errors.New("the session has all that it may have in the cloud: prune it, or go on in another session")
	// ErrBlocked tells that the remote refuses all requests until somebody acts.
	ErrBlocked = errors.New("the remote refuses requests")
	// ErrRefused is an ErrBlocked that is known of one request alone.
	ErrRefused = fmt.Errorf("%w: the request is refused", ErrBlocked)
	// ErrUnauthorized tells that the identity has no right to the request, or not yet.
	ErrUnauthorized = errors.New("the remote does not authorize the request, or not yet")
	// ErrClock tells that requests are refused because the clock is wrong.
	ErrClock = errors.New("clock differs from the remote's")
	// ErrUnreachable tells that the remote did not answer, or not well. It may be an
	// [Unreachable] or a [NoAnswer], which say more.
	ErrUnreachable = errors.New("the remote cannot be reached")
)

// Unreachable is an [ErrUnreachable] with what it shows.
type Unreachable struct {
	Err   error
	Kind  Kind
	After time.Duration // the remote asks not to be asked before; 0: it says nothing
}

// Kind is what an [Unreachable] shows.
type Kind uint8

// The kinds of failures.
const (
	Failed    Kind = iota // no more than that
	Throttled             // the remote did not do it, since it has too much to do
	Away                  // nothing answers there, or something else: no request arrives now
	Stale                 // a connection that had served before ended: the next one may be good
)

func (u *Unreachable) Error() string { return fmt.Sprintf("%v: %v", ErrUnreachable, u.Err) }

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
