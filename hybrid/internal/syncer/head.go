package syncer

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/gc"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

// readHead reads the head, which costs one point read when it did not change.
func (s *work) readHead(ctx context.Context) error {
	was := s.st.Clone()
	born := s.st.Born
	t, known, err := s.cloud.link.Head(ctx, s.sid, s.st.Head)
	if errors.Is(err, remoteread.ErrOlder) && s.st.SeeOlder(time.Now()) {
		s.st.Estrange("")
		s.out.Vanished = true
		t, known, err = s.cloud.link.Head(ctx, s.sid, remoteread.Known{})
	}
	if err != nil {
		return err
	}
	s.out.Vanished = s.st.See(s.sid, t, known) || s.out.Vanished
	s.cloud.head, s.cloud.version, s.cloud.dead = t, known.Version, nil
	if t == nil {
		s.cloud.head = s.st.Head.Head(s.sid) // nil, or a tombstone
	}
	if s.passes(t) {
		return s.passOver(ctx, was)
	}
	if t != nil && slices.Contains(s.cloud.sent, t.Op) {
		s.out.Pushed = true // by a request of which the answer was lost
		s.cloud.left.clear()
	}
	reborn := s.st.Born != born && born != ""
	if reborn {
		if err := s.reborn(ctx, was); err != nil {
			*s.st = *was
			return err
		}
	}
	if t != nil && (t.Deleted || reborn && !slices.Contains(s.cloud.sent, t.Born)) {
		return s.removeLeft(ctx)
	}
	return nil
}

// removeLeft removes what this sync stored for a session that was deleted, or born anew by
// another device, since.
// No head of this sync will lead to it: one that is still under way replaces another version
// than the one that was read. A tombstone gets another version before.
func (s *work) removeLeft(ctx context.Context) error {
	c := s.cloud
	if len(c.left.ids) == 0 {
		return nil
	}
	if c.head.Deleted {
		version, err := gc.Renew(ctx, c.gc(), c.head, c.version)
		if err != nil {
			return err
		}
		c.version, s.st.Head.Version = version, version
	}
	return c.left.remove(ctx, c.link, c.pk)
}

// outdated reports whether a round met damage, and the head is not any more the one
// that the round followed: what that one led to may have been removed since.
func (c *cloud) outdated(ctx context.Context, err error) bool {
	damage := errors.Is(err, remoteread.ErrDamaged) || err == nil && len(c.lacking) > 0
	if !damage || c.head == nil || c.version == "" {
		return false
	}
	doc, err := c.link.Get(ctx, c.pk, segment.HeadID(c.sid), c.version)
	return err == nil && doc != nil
}
