package syncer

import (
	"context"
	"errors"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/remote"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// readHead reads the head, which costs one point read when it did not change.
func (v *sessionSync) readHead(ctx context.Context) error {
	before := v.st.Head.Head(v.sid)
	t, known, err := v.cloud.link.Head(ctx, v.sid, v.st.Head)
	if errors.Is(err, remote.ErrOlder) && v.st.SeeOlder(time.Now()) {
		v.st.Estrange("")
		v.out.Vanished = true
		t, known, err = v.cloud.link.Head(ctx, v.sid, remote.Known{})
	}
	if err != nil {
		return err
	}
	v.out.Vanished = v.st.See(v.sid, t, known) || v.out.Vanished
	v.cloud.head, v.cloud.etag = t, known.ETag
	if t == nil {
		v.cloud.head = v.st.Head.Head(v.sid) // nil, or a tombstone
		return nil
	}
	if t.Op == v.cloud.op {
		v.out.Pushed = true // by a request of which the answer was lost
		v.cloud.left.clear()
	}
	if t.Deleted {
		return v.cloud.left.remove(ctx, v.cloud.link)
	}
	return v.renew(ctx, before)
}

// outdated reports whether a round met damage, and the head is not any more the one
// that the round followed: what that one led to may have been removed since.
func (c *cloud) outdated(ctx context.Context, err error) bool {
	damage := errors.Is(err, remote.ErrDamaged) || err == nil && len(c.lacking) > 0
	if !damage || c.head == nil || c.etag == "" {
		return false
	}
	doc, err := c.link.Get(ctx, c.pk, segment.HeadID(c.sid), c.etag)
	return err == nil && doc != nil && !doc.Same
}
