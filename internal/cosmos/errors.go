package cosmos

import "errors"

// What callers branch on, with [errors.Is]. Package hybrid documents them.
var (
	ErrBlocked      = errors.New("the account refuses requests")
	ErrUnauthorized = errors.New("the account does not authorize the request, or not yet")
	ErrClock        = errors.New("clock differs from the account's")
	ErrUnreachable  = errors.New("the account cannot be reached")
	ErrFull         = errors.New("the session has 20 GB in the cloud, which is all that it may have: prune it, or go on in another session")
	ErrNoPage       = errors.New("the page that was asked for is not there any more")
	ErrContended    = errors.New("other devices keep changing the session")
)
