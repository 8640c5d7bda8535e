package hybrid

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncer"
	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Refresh brings a session up to date before a program loads it to go on with it: it asks
// the remote for the session's head, which is one request and one request unit, and takes
// the lines that other devices added, or the whole session when it is not here. It sends
// nothing but a history of this device that would be lost otherwise, and does not fetch
// other devices' logs; see [Store.Sync] and [Store.Pull].
//
// From then on the session counts as used by this program. For ten minutes after its last
// Refresh or write, no background of any program on this device changes its files, so
// that no Save of messages loaded now undoes what a sync brought. Explicit calls of this
// store do change them. Refresh also brings a session up to date that this store has
// acquired.
//
// It returns the revision of the session here, as [sessionstore.Store.Revision] does,
// whatever happened: after an error, too, the program may go on with it. The error Is
// [ErrUnreachable] when the remote gives no first answer within Limits.FirstAnswer, or
// before ctx ends, at once where a call found that out in the last 30 seconds;
// [ErrDeferred] when the remote has more, but another program uses the session here or its
// files are in doubt; [sessionstore.ErrNotFound] when it is neither here nor there. A
// program that goes on after ErrUnreachable or ErrDeferred may cause two histories.
// Without a remote there is nothing to ask, and that is no error.
func (s *Store) Refresh(ctx context.Context, id string) (sessionstore.Revision, error) {
	if s.engine == nil {
		now, err := s.Revision(ctx, id)
		return now, wrap("refresh", id, err)
	}
	err := s.engine.refresh(ctx, id)
	// The revision is read also when ctx has ended: that waits for nothing.
	now, unread := s.Revision(context.WithoutCancel(ctx), id)
	if err == nil || !errors.Is(unread, sessionstore.ErrNotFound) {
		err = errors.Join(err, unread)
	}
	return now, wrap("refresh", id, err)
}

// refresh brings a session here up to date.
func (e *engine) refresh(ctx context.Context, id string) error {
	e.budget.Reopen()
	if e.Core.Has(id) {
		e.uses(id, false)
		// A sync that decided before that to change the files has the lock until it is
		// done.
		err := e.Core.Change(ctx, id, func(core.Tx) error { return nil })
		if err != nil && !errors.Is(err, sessionstore.ErrNotFound) {
			return err
		}
	}
	if err := e.budget.Away(); err != nil {
		return err
	}
	out, _ := e.syncOne(e.soon(ctx), id, syncer.Options{Mode: syncer.Resume, Named: true})
	switch {
	case out.Err == nil:
		e.uses(id, false)
	case out.Asking && errors.Is(out.Err, context.DeadlineExceeded) && !errors.Is(out.Err, ErrUnreachable):
		return fmt.Errorf("%w: %w", ErrUnreachable, out.Err)
	}
	return errors.Join(out.Err, out.Why)
}
