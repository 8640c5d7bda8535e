package syncer

import (
	"errors"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
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

// rounds is how often a session is synced again while others change it meanwhile.
const rounds = 5

// retry runs do again, a few times, while others change the session meanwhile.
func retry(do func() error) error {
	for range rounds {
		if err := do(); !errors.Is(err, errLost) && !errors.Is(err, track.ErrMoved) {
			return err
		}
	}
	return remoteread.ErrContended
}
