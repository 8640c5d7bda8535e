package syncer

import (
	"context"
	"errors"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/head"
)

// # Recreate
//
// Recreate sends a session that was deleted in the cloud as one that the cloud never had,
// under today's rules and a Born of its own. It is a sync for which a tombstone is no head:
// the first head replaces the version of the tombstone that was read. Of two devices that do
// it one is first; the other one, and every device with another Born, compares all lines.
// A purge that comes between gives the tombstone another version, and then all is stored
// once more; see package gc. The head has a later revision than the tombstone, so that the
// catalogue tells all devices. It counts on nothing that was stored before.

// passOver makes the tombstone that was read, or is known, one that the next head replaces,
// and forgets what was in step with the deleted session, also for the next sync.
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
