package remote

import "errors"

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
	ErrBlocked = errors.New("the account refuses requests")
	// ErrUnreachable tells that the remote did not answer, or not well.
	ErrUnreachable = errors.New("the account cannot be reached")
)
