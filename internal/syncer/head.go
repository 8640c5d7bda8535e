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
	t, known, err := v.link.Head(ctx, v.sid, v.st.Head)
	if errors.Is(err, remote.ErrOlder) && v.st.SeeOlder(time.Now()) {
		v.st.Estrange("")
		v.out.Vanished = true
		t, known, err = v.link.Head(ctx, v.sid, remote.Known{})
	}
	if err != nil {
		return err
	}
	v.out.Vanished = v.st.See(v.sid, t, known) || v.out.Vanished
	v.head, v.etag = t, known.ETag
	if t == nil {
		v.head = v.st.Head.Head(v.sid) // nil, or a tombstone
		return nil
	}
	if t.Op == v.op {
		v.out.Pushed = true // by a request of which the answer was lost
		v.left.clear()
	}
	if t.Deleted {
		return v.left.remove(ctx, v.link)
	}
	return v.renew(ctx, before)
}

// outdated reports whether a round met damage, and the head is not any more the one
// that the round followed: what that one led to may have been removed since.
func (v *sessionSync) outdated(ctx context.Context, err error) bool {
	damage := errors.Is(err, remote.ErrDamaged) || err == nil && len(v.lacking) > 0
	if !damage || v.head == nil || v.etag == "" {
		return false
	}
	doc, err := v.link.Get(ctx, v.pk, segment.HeadID(v.sid), v.etag)
	return err == nil && doc != nil && !doc.Same
}
