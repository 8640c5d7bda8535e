package hybrid

import (
	"context"
	"errors"
)

// Purge removes sessions from the cloud for every device, as [Store.DeleteRemote] does,
// and with them every document that holds their text: all histories and branches, logs
// of all devices, small files, and the name in the catalogue. It waits for no age. A
// session may be purged that [Store.LocalOnly] keeps here, and one that was deleted in
// the cloud before. Files on devices stay, and [Store.Recreate] sends them anew.
//
// A fork is a session of its own and keeps its copy of the lines, and so does a conflict
// copy: name the forks too; [Store.Family] tells which. The error Is
// [sessionstore.ErrNotFound] when the cloud has nothing of a session: then nothing was
// changed. It Is [ErrContended] when a device recreated one of them
// meanwhile: that session stays, with what it has now, and the others are purged. After any
// other error call it again: what was purged stays so, and no session is left half.
//
// When it returns without an error, no document of these sessions holds text, but for one
// thing. A device that is sending lines of a session at that instant removes them itself,
// when it meets the deletion; where it is killed before, or an answer is lost, the next
// Purge or [Store.Prune] removes them. Of the session itself, its id, that of its parent,
// its numbers and the hashes of its histories stay, so that no device sends it again. Backups of the account keep what they hold for their retention.
func (s *Store) Purge(ctx context.Context, ids ...string) error {
	e, err := s.forNamed("purge", ids)
	if err != nil {
		return err
	}
	return wrap("purge", single(ids), e.Purge(e.asked(ctx), ids))
}

// Family returns the ids named, and those of the sessions in the cloud that belong to
// them: forks, conflict copies and sub-sessions, the sessions that these come from, and
// others that come from there. The entries of the catalogue tell, by the parent_id with
// which a session was first sent; the parent need not be in the cloud. It reads the
// project's catalogue.
func (s *Store) Family(ctx context.Context, ids ...string) ([]string, error) {
	e, err := s.forNamed("find the family", ids)
	if err != nil {
		return nil, err
	}
	all, err := e.Family(e.asked(ctx), ids)
	return all, wrap("find the family", single(ids), err)
}

var errNoneNamed = errors.New("no session is named")

// forNamed returns the engine for a call that is made for named sessions.
func (s *Store) forNamed(op string, ids []string) (*engine, error) {
	switch {
	case s.engine == nil:
		return nil, wrap(op, single(ids), ErrNoRemote)
	case len(ids) == 0:
		return nil, wrap(op, "", errNoneNamed)
	}
	return s.engine, nil
}

// single returns the one session that a call is about; "" for several.
func single(ids []string) string {
	if len(ids) == 1 {
		return ids[0]
	}
	return ""
}
