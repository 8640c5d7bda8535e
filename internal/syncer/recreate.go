package syncer

import (
	"context"
	"errors"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/head"
)

// # Recreate
//
// Recreate sends a session that was deleted in the cloud as one that the cloud never had:
// all of it, under today's rules, with a Born of its own. It is a sync with one difference:
// a tombstone counts as no head, and the first head replaces it, if it still is the version
// that was read. So of two devices that recreate a session one is first, and the other goes
// on as every sync does that meets a head of another Born: it compares all lines, and keeps
// what differs as a copy. A purge that comes between gives the tombstone another version;
// then all is stored once more. See package gc for the order in which a purge removes.
//
// The head comes behind the tombstone by its revision, so that the catalogue tells all
// devices of it, also those that saw the tombstone. It counts on nothing that was stored
// before, nor on lines of the session's parent, which nobody would know to need.

// passOver makes the tombstone that was read, or is known, one that the next head replaces,
// and forgets what was in step with what the tombstone stands for. That is kept, too: where
// the answer of the next head is lost, the next sync compares anew.
func (s *sides) passOver(ctx context.Context) error {
	dead := &head.Head{}
	if s.cloud.head != nil {
		dead = s.cloud.head.Clone()
	}
	dead.Deleted = false
	if err := s.rulesHold(dead); err != nil {
		return err
	}
	if s.cloud.etag == "" { // the tombstone is gone, but the catalogue may have its entry
		revision, err := cosmos.EntryRevision(ctx, s.cloud.link, s.UID(), s.sid)
		if err != nil {
			return err
		}
		dead.Revision = max(dead.Revision, revision)
	}
	s.cloud.head, s.cloud.dead = nil, dead
	s.st.Estrange("")
	return errors.Join(s.local.afresh(ctx), s.States.Save(s.sid, s.st))
}

// afresh scans again what is here, as if nothing of it had ever been sent.
func (l *local) afresh(ctx context.Context) error {
	if !l.present || l.main == nil {
		return nil
	}
	if err := l.renewed(ctx, fresh); err != nil {
		return err
	}
	if err := l.scanLogs(ctx); err != nil {
		return gone(err)
	}
	return gone(l.scanFiles(ctx))
}
