package hybrid

import (
	"context"
	"errors"
)

// Remove removes sessions from the remote, for every device, with every document that holds
// their text: all histories, logs of all devices, small files, and the name in the catalogue.
// It waits for no age. It removes no file on any device. Devices that have a session keep it
// and report it as [Removed]; it is not sent again until somebody calls [Store.Recreate]. A
// session may be removed that [Store.KeepLocal] keeps here.
//
// A fork is a session of its own and keeps its copy of the lines, and so does a conflict
// copy: name the forks too; the Parent of [Store.Remote] tells which. The error Is
// [sessionstore.ErrNotFound] when the remote has nothing of a session: then nothing was
// changed. It Is [ErrContended] when a device recreated one of them meanwhile: that session
// stays, with what it has now, and the others are removed. After any other error call it
// again: what was removed stays so, and no session is left half.
//
// When it returns without an error, no document of these sessions holds text, but for one
// thing. A device that is sending lines of a session at that instant removes them itself,
// when it meets the removal; where it is killed before, or an answer is lost, the next
// Remove or [Store.Prune] removes them. Of the session itself, its id, its numbers and the
// hashes of its ends stay, so that no device sends it again. Backups of the account keep what
// they hold for their retention.
func (s *Store) Remove(ctx context.Context, ids ...string) error {
	e, err := s.forNamed("remove", ids)
	if err != nil {
		return err
	}
	return wrap("remove", single(ids), e.Remove(e.asked(ctx), ids))
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
