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
// Forks share lines with the session that they come from, so sessions are purged by
// families: all of one are named in one call. Else the error Is [ErrShared] and names
// those that are missing, and nothing was changed; [Store.Family] tells them before. The
// error Is [sessionstore.ErrNotFound] when the cloud has nothing of a session, and
// nothing was changed either. It Is [ErrContended] when a device recreated one of them
// meanwhile: that session stays, with what it has now, and the others are purged. After any
// other error call it again: what was purged stays so, and no session is left half.
//
// When it returns without an error, no document of the container holds text of these
// sessions, but for two things. A device that is sending lines of a session at that
// instant removes them itself, when it meets the deletion; where it is killed before, or
// an answer is lost, the next Purge or [Store.Prune] removes them. And a session that has
// a copy of the lines, but does not name its origin as parent_id, is not purged with them.
// A fork that was not sent before is sent by the next sync, with all its lines;
// [Store.LocalOnly] keeps it. Of the session itself, its id, its numbers and the hashes
// of its histories stay for 90 days, so that no device sends it again. Backups of the
// account keep what they hold for their retention.
//
// It reads the head of each session of the project, one unit each.
func (s *Store) Purge(ctx context.Context, ids ...string) error {
	e, err := s.forFamilies("purge", ids)
	if err != nil {
		return err
	}
	return wrap("purge", single(ids), e.Purge(e.asked(ctx), ids))
}

// Family returns the ids of the sessions in the cloud that share lines with those named,
// and the ids named: forks, the sessions that these come from, and other forks of them.
// It reads the head of each session of the project, one unit each.
func (s *Store) Family(ctx context.Context, ids ...string) ([]string, error) {
	e, err := s.forFamilies("find the family", ids)
	if err != nil {
		return nil, err
	}
	all, err := e.Family(e.asked(ctx), ids)
	return all, wrap("find the family", single(ids), err)
}

var errNoneNamed = errors.New("no session is named")

// forFamilies returns the engine for a call that is made for named sessions.
func (s *Store) forFamilies(op string, ids []string) (*engine, error) {
	switch {
	case s.engine == nil:
		return nil, wrap(op, single(ids), ErrNoContainer)
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
