package hybrid

import "context"

// Remote returns the sessions of the project that the cloud has or had, the
// one that changed last first. The list may be half a minute behind.
func (s *Store) Remote(ctx context.Context) ([]RemoteSession, error) {
	if s.engine == nil {
		return nil, wrap("list the cloud", "", ErrNoContainer)
	}
	e := s.engine
	e.budget.reopen()
	var all []RemoteSession
	for c, err := range e.link().entries(ctx, e.uid(), e.opts.Project) {
		if err != nil {
			return all, wrap("list the cloud", "", err)
		}
		all = append(all, RemoteSession{
			SessionID: c.Session, Project: c.Project, Name: c.Name, Updated: c.Updated, Messages: int(c.N), Turns: c.Turns,
			Revision: c.Revision, Deleted: c.Deleted, Conflict: c.Conflict,
		})
	}
	return all, nil
}

// LocalOnly keeps a session from ever leaving this machine, or lets it again.
// It is durable when it returns. A sync that is under way is not made visible
// any more. What was sent before stays in the cloud until [Store.DeleteRemote].
// The session need not exist yet.
func (s *Store) LocalOnly(ctx context.Context, id string, on bool) error {
	if s.engine == nil {
		return wrap("set local only", id, ErrNoContainer)
	}
	if err := ctx.Err(); err != nil {
		return wrap("set local only", id, err)
	}
	if err := s.engine.rights.set(id, on); err != nil {
		return wrap("set local only", id, err)
	}
	if !on {
		s.engine.marks.mark(id, written)
	}
	return nil
}
