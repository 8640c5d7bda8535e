package syncer

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/amplifier-go/sessionstorage/internal/remoteread"
)

// What callers branch on, with [errors.Is]. Package hybrid documents them.
var (
	ErrRemoved   = errors.New("session was removed from the remote")
	ErrRedaction = errors.New("redaction rules hold here that this program does not apply: set Options.Redact")
	ErrHeld      = errors.New("session is held back, since it is not known whether a rule keeps it on this machine")
	ErrLocal     = errors.New("a rule keeps the session on this machine")
	ErrKeptLate  = fmt.Errorf("%w, but came after it was sent: the cloud has what was sent, until Remove removes it", ErrLocal)
	ErrDeferred  = errors.New("session is deferred")

	// errLost tells that the head is not the one that was read: everything is to be
	// scanned again.
	errLost = remoteread.ErrLost
	// errMoved tells that a file is not what it was when it was scanned.
	errMoved = errors.New("file changed meanwhile")
	// errTooBig tells that documents must become smaller.
	errTooBig = errors.New("document is too big for the account")
	// errStale tells that pruning may have removed what was uploaded.
	errStale = errors.New("the first upload took too long")
)

// gone makes a session that vanishes while it is read a reason to scan it again.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", errMoved, err)
	}
	return err
}
