package hybrid

import (
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/privacy"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncer"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
)

// The errors of this package, for [errors.Is].
var (
	// ErrNoRemote is returned when the store was opened without a remote.
	ErrNoRemote = errors.New("no remote: the store is local only")
	// ErrBlocked is returned when the remote refuses every request, as with a wrong key,
	// a missing bucket or table, or an exhausted quota. Nothing is dropped; the worker asks
	// again every 15 minutes, and each explicit call does.
	ErrBlocked = remote.ErrBlocked
	// ErrUnauthorized is returned when the identity that signed in has no role in the
	// remote that allows the request, or when a role given to it has not arrived there,
	// which takes some minutes. Nothing is dropped: the worker asks again, see package
	// remote, and each explicit call does.
	ErrUnauthorized = remote.ErrUnauthorized
	// ErrClock is returned when requests are refused because this machine's clock is
	// wrong. It Is ErrBlocked too.
	ErrClock = remote.ErrClock
	// ErrUnreachable is returned when the remote did not answer, or not well, also where it may
	// have made a change and the answer was lost, or when something else answered: the page of a
	// network that wants a sign-in, or a proxy. Nothing is lost: the next call finds out.
	// The text says which. For 30 seconds after there was no answer, no request is made.
	ErrUnreachable = remote.ErrUnreachable
	// ErrNewer is returned when a document in the remote has the format of a newer version
	// of this library: update the program. Neither such a document nor one of a former
	// format is read or changed; the error of the latter says to move the data away.
	ErrNewer = segment.ErrNewer
	// ErrForeign is returned for a document that this library did not write.
	ErrForeign = segment.ErrForeign
	// ErrDamaged is returned when lines in the remote are missing or do not match their
	// hash; see [Store.Check].
	ErrDamaged = remoteread.ErrDamaged
	// ErrRemoved is returned when the session was removed from the remote;
	// [Store.Recreate] sends it anew.
	ErrRemoved = syncer.ErrRemoved
	// ErrRedaction is returned when this program does not apply the rules of redaction
	// that the directory remembers, or that lines of the session in the remote went
	// through. Nothing is sent until it is given them in [Options]. Rules of the same
	// name with a lower number, or without patterns of the user where the remembered ones
	// have some, are not taken for them. [Exact] ends the redaction that the directory
	// remembers.
	ErrRedaction = privacy.ErrRedaction
	// ErrHeld is returned when nothing of a session is sent, because it is not known
	// whether a rule keeps it on this machine: its metadata cannot be read, or there are
	// rules and its parent is neither here nor in the remote. Calls that name the session
	// return it; else it is the Err of the [Status] alone. [Store.Release] ends it.
	ErrHeld = privacy.ErrHeld
	// ErrLocal is returned when a rule keeps the session on this machine: Options.Private,
	// [Store.KeepLocal], or a parent that stays here. A [Status] that is [KeptLate] has
	// it, too. A Check that mends, Restore and Recreate, which would change it in the
	// remote, are refused; [Store.Remove] is not.
	ErrLocal = privacy.ErrLocal
	// ErrDeferred is returned when a session cannot be synced just now, since its files
	// are in doubt or another program writes them.
	ErrDeferred = syncer.ErrDeferred
	// ErrFull is returned when the session has as much in the remote as it may have there, in
	// Cosmos DB 20 GB. Lines that are not sent stay here, other sessions go on, and the background
	// tries the session again once a day, or when this store pruned it. Prune it, or go
	// on in another session.
	ErrFull = remote.ErrFull
	// ErrTooLarge is returned when the remote takes no part of the session, however small the
	// session is cut, or its head, which grows with each branch: prune it, or go on in another
	// session.
	ErrTooLarge = remote.ErrTooLarge
	// ErrTakenAway is returned when a pull would take lines away that are here, and those that
	// former pulls took away take 1 GB, or four times the session where that is more. They are
	// kept for 30 days, so that slice.Undo brings them back; slice.DropBackups removes them.
	// Nothing is lost, and nothing changes until then.
	ErrTakenAway = syncer.ErrTakenAway
	// ErrContended is returned when other devices changed the session at each of many
	// tries, or recreated it while it was removed.
	ErrContended = remoteread.ErrContended
)

// Error names the call that failed and its session. Unwrap returns the cause.
type Error struct {
	Op      string // "sync", "pull", …
	Session string // empty when no one session is concerned
	Err     error
}

func (e *Error) Error() string {
	if e.Session == "" {
		return fmt.Sprintf("hybrid: %s: %v", e.Op, e.Err)
	}
	return fmt.Sprintf("hybrid: %s session %q: %v", e.Op, limits.ID(e.Session), e.Err)
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
