package cosmos

import (
	"errors"

	"github.com/amplifier-go/sessionstorage/internal/remote"
)

// What callers branch on, with [errors.Is]. Package hybrid documents them.
var (
	ErrBlocked      = remote.ErrBlocked
	ErrUnauthorized = errors.New("the account does not authorize the request, or not yet")
	ErrClock        = errors.New("clock differs from the account's")
	ErrUnreachable  = remote.ErrUnreachable
	ErrFull         = remote.ErrFull
)
