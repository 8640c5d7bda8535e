package syncer

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/gc"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
)

// # Recreate
//
// Recreate sends a session as one that the cloud never had, under today's rules and a Born
// of its own. Where the cloud has it, it goes in four steps:
//
//	bring   a sync, with the logs of all devices: afterwards the cloud has nothing that is
//	        not here, but former histories. Else it is refused, and nothing is removed.
//	bury    the intent is stored here, then the head becomes a tombstone, if it still is
//	        the one that was brought. If not, it begins again with the first step.
//	empty   all documents go but the tombstone, see [gc.Empty]
//	send    a sync for which a tombstone is no head: the first head replaces the version of
//	        the tombstone that was read. It counts on nothing that was stored before.
//
// What is in the state stays as it was until the new head is there, so a run that is killed
// knows the forms in which lines were sent, and where the logs of others lie. Each later
// sync of this device that meets its own tombstone goes on with the third step, and so does
// a Recreate that meets any tombstone: who wrote it may not have removed all.
//
// Of two devices that do it one is first; the other one, and every device with another
// Born, compares all lines; see reborn.go. A removal that comes between gives the tombstone
// another version, and another name of the change; see package gc. The head has a later
// revision than the tombstone, so that the catalogue tells all devices.

// passes reports whether the head t, which was read, is one that this sync replaces by that
// of a session that is born anew.
func (s *work) passes(t *head.Head) bool {
	if t != nil && !t.Deleted || !s.local.present {
		return false
	}
	return s.recreates || s.resumes && s.ownTombstone(t)
}

// passOver makes the tombstone that was read, or is known, one that the next head replaces.
// was is the state as it stays until then.
func (s *work) passOver(ctx context.Context, was *replica.SessionState) error {
	c := s.cloud
	dead := &head.Head{}
	if c.head != nil {
		dead = c.head.Clone()
	}
	dead.Deleted = false
	if err := s.rulesHold(dead); err != nil {
		return err
	}
	if s.ownTombstone(c.head) && was.Base != nil && was.Base.N > 0 && !s.local.main.There {
		return fmt.Errorf("%w: the transcript is gone", ErrDeferred)
	}
	if c.version != "" {
		version, err := gc.Empty(ctx, c.gc(), c.head, c.version)
		if errors.Is(err, gc.ErrRecreated) {
			err = fmt.Errorf("%w: %w", errLost, err)
		}
		if err != nil {
			return err
		}
		c.version = version
	}
	if c.version == "" { // the tombstone is gone, but the catalogue may have its entry
		entry, err := c.link.EntryOf(ctx, s.UID(), s.sid)
		if err != nil {
			return err
		}
		if entry != nil {
			dead.Revision = max(dead.Revision, entry.Revision)
		}
	}
	c.head, c.dead, s.passed, s.undo = nil, dead, true, was
	s.st.Estrange("")
	return s.reborn(ctx, was)
}

// restoreState takes back what a round noted that passed over a tombstone and did not come
// to a new head.
func (s *work) restoreState() {
	if s.undo != nil {
		*s.st, s.undo = *s.undo, nil
	}
}
