package syncer

import (
	"context"

	"github.com/amplifier-go/sessionstorage/internal/gc"
)

func (e *Syncer) deleteRemote(ctx context.Context, id string) error {
	v, leave, err := e.examine(ctx, id)
	if err != nil {
		return err
	}
	defer leave()
	if t := v.cloud.head; !t.Deleted || t.Writer.Device != v.Device.ID {
		if err := gc.Removable(ctx, v.cloud.link, v.sid); err != nil {
			return err
		}
		if err := v.putTombstone(ctx); err != nil {
			return err
		}
	}
	if err := v.forgetAnew(); err != nil {
		return err
	}
	if err := v.cloud.catalogue(ctx); err != nil {
		return err
	}
	_, err = gc.Empty(ctx, v.cloud.gc(), v.cloud.head, v.cloud.version)
	return err
}

// putTombstone replaces the head by a tombstone.
func (v *examination) putTombstone(ctx context.Context) error {
	p := &draft{next: v.push.tombstone(), uploads: v.cloud.uploader()}
	if v.verdict.kept || v.verdict.secret || v.verdict.held != nil {
		p.next.Parent = "" // it stays here
	}
	return v.push.commit(ctx, p)
}

// Delete removes a session from the cloud: what it holds, but for a tombstone. No rule
// forbids that: it sends nothing of the files here.
func (e *Syncer) Delete(ctx context.Context, id string) error {
	return retry(func() error { return e.deleteRemote(ctx, id) })
}
