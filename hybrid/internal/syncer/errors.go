package syncer

import (
	"errors"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
)

// What callers branch on, with [errors.Is]. Package hybrid documents them.
var (
	ErrRemoved  = errors.New("session was removed from the remote")
	ErrDeferred = errors.New("session is deferred")

	// errLost tells that the head is not the one that was read: everything is to be
	// scanned again.
	errLost = remoteread.ErrLost
	// errTooBig tells that documents must become smaller.
	errTooBig = errors.New("document is too big for the account")
	// errStale tells that pruning may have removed what was uploaded.
	errStale = errors.New("the first upload took too long")
)
