package hybrid

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
)

// Remote returns the sessions of the project that the cloud has or had, the
// one that changed last first. The list may be half a minute behind, and names a
// session that is gone there for up to two weeks. It is read from the catalogue
// alone; [Store.Preview] tells more of one session. It is kept on this device, so
// that a call asks only for what changed since the last one: one request, where
// little did. After an error the list has what is known, and the next call goes on
// where this one stopped.
func (s *Store) Remote(ctx context.Context) ([]RemoteSession, error) {
	if s.engine == nil {
		return nil, wrap("list the cloud", "", ErrNoRemote)
	}
	e := s.engine
	ctx = e.asked(ctx)
	_, err := e.readCatalogue(ctx)
	var all []RemoteSession
	for c := range e.Table.Entries() {
		all = append(all, RemoteSession{
			SessionID: c.Session, Project: e.opts.Project, Parent: c.Parent, Name: c.Name, Updated: time.Unix(0, c.Updated).UTC(), Messages: int(c.N),
			Turns: c.Turns, Revision: c.Revision, Removed: c.Deleted, Conflict: c.Conflict,
		})
	}
	slices.SortFunc(all, func(a, b RemoteSession) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(a.SessionID, b.SessionID))
	})
	return all, wrap("list the cloud", "", err)
}

// KeepLocal keeps a session from ever leaving this machine, until [Store.Release]. It is
// durable when it returns. A sync that is under way is not made visible any more. What was
// sent before stays in the remote until [Store.Remove], and its status is [KeptLate] as long.
// The session need not exist yet. Sessions that name a session that stays here as their
// parent (parent_id, parent_session_id, fork.source_session_id) stay, too, whether their
// metadata.json names it or the one in context-intelligence.
func (s *Store) KeepLocal(ctx context.Context, id string) error {
	return s.keep(ctx, "keep local", id, true)
}

// Release lets a session leave this machine, whatever its parent does, unless Options.Deny
// keeps it. The id of a parent that stays does not leave with its metadata. It is durable
// when it returns.
func (s *Store) Release(ctx context.Context, id string) error {
	return s.keep(ctx, "release", id, false)
}

func (s *Store) keep(ctx context.Context, op, id string, on bool) error {
	if s.engine == nil {
		return wrap(op, id, ErrNoRemote)
	}
	if err := ctx.Err(); err != nil {
		return wrap(op, id, err)
	}
	if err := s.engine.States.SetLocalOnly(id, on); err != nil {
		return wrap(op, id, err)
	}
	if !on {
		s.engine.Dirty.Add(id, replica.Written)
	}
	return nil
}
