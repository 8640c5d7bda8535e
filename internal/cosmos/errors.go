package cosmos

import "errors"

// What callers branch on, with [errors.Is]. Package hybrid documents them.
var (
	ErrBlocked      = errors.New("the account refuses requests")
	ErrUnauthorized = errors.New("the account does not authorize the request, or not yet")
	ErrClock        = errors.New("clock differs from the account's")
	ErrUnreachable  = errors.New("the account cannot be reached")
	ErrFull         = errors.New("the session's partition in the cloud is full")
	ErrNoPage       = errors.New("the page that was asked for is not there any more")
	ErrContended    = errors.New("other devices keep changing the session")
)
