package syncer

import (
	"context"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/gc"
)

func (e *Syncer) deleteRemote(ctx context.Context, id string) error {
	v, leave, err := e.examine(ctx, id)
	if err != nil {
		return err
	}
	defer leave()
	if !v.cloud.head.Deleted {
		if err := gc.Removable(ctx, v.cloud.link, v.sid); err != nil {
			return err
		}
		if err := v.putTombstone(ctx); err != nil {
			return err
		}
	}
	if err := v.States.Save(v.sid, v.st); err != nil {
		return err
	}
	if err := v.cloud.catalogue(ctx); err != nil {
		return err
	}
	return gc.Empty(ctx, v.cloud.link, v.cloud.head, v.cloud.etag)
}

// putTombstone replaces the head by a tombstone.
func (v *examination) putTombstone(ctx context.Context) error {
	p := &draft{next: v.push.nextHead().Tombstone(gc.TombstoneDays * 24 * time.Hour), uploads: v.cloud.uploader()}
	p.next.Revision = v.cloud.head.Revision + 1
	p.next.Files, p.next.OldMore, p.next.BranchMore = nil, nil, nil
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
