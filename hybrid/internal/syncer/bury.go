package syncer

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/gc"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/privacy"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

// bury removes a session that was brought, in favor of the one that is sent next.
func (v *work) bury(ctx context.Context) error {
	if err := v.mayBury(ctx); err != nil {
		return err
	}
	logs, err := v.keepLogs(ctx)
	if err != nil {
		return err
	}
	p := &draft{next: v.tombstone(), uploads: v.cloud.uploader()}
	p.next.Anew.Rules = v.redaction()
	v.st.Anew = &replica.Anew{Op: p.next.Op, Born: p.next.Born, Revision: p.next.Revision, Logs: logs}
	v.Table.Reopen(v.id) // so that the background goes on with it
	if err := errors.Join(v.Table.Save(ctx), v.States.Save(v.sid, v.st)); err != nil {
		return err
	}
	return v.commit(ctx, p)
}

// mayBury returns why a session must stay in the cloud: something of it is not here, or
// may not leave.
func (v *work) mayBury(ctx context.Context) error {
	is := v.Privacy.Judge(ctx, v.id)
	switch {
	case is.Kept:
		return privacy.ErrLocal
	case is.Held != nil:
		return is.Held
	}
	if err := errors.Join(v.Privacy.RedactionHolds(), v.cloud.rulesHold()); err != nil {
		return err
	}
	if err := v.cloud.lacks(); err != nil {
		return fmt.Errorf("a part in the cloud cannot be brought here, and would be lost: %w", err)
	}
	if v.out.State == Behind || v.local.main.Point() != v.cloud.head.Transcript.Point() {
		return errors.Join(fmt.Errorf("%w: what the cloud has more of it could not be brought here", ErrDeferred), v.out.Why)
	}
	if _, err := v.cloud.link.EntryOf(ctx, v.UID(), v.sid); err != nil { // of another format
		return err
	}
	if err := gc.Removable(ctx, v.cloud.link, v.sid); err != nil {
		return err
	}
	return v.cloud.branchesStay(ctx)
}

// branchesStay returns an error where a branch has no session of its own in the cloud.
func (c *cloud) branchesStay(ctx context.Context) error {
	all, err := c.histories(ctx)
	if err != nil {
		return err
	}
	for _, h := range all {
		if !h.Branch() {
			continue
		}
		if stays, err := c.branchStays(ctx, h.Extent.Point(), h.KeptAs); err != nil {
			return err
		} else if !stays {
			return fmt.Errorf("%w: the branch of %d messages from device %s has no session of its own in the cloud: "+
				"sync the session that keeps it, or restore it first; Remove and then Recreate gives it up", ErrDeferred, h.Extent.N, h.Device)
		}
	}
	return nil
}

// branchStays reports whether the history that ends at p is in the cloud without the branch.
func (c *cloud) branchStays(ctx context.Context, p segment.Point, keptAs string) (bool, error) {
	if p == c.head.Transcript.Point() {
		return true, nil
	}
	if p.N < c.head.Transcript.N {
		if on, err := c.has(ctx, p, c.head.Transcript.Point()); on || err != nil {
			return on, err
		}
	}
	if keptAs == "" {
		return false, nil
	}
	t, _, err := c.link.Head(ctx, c.SID(keptAs), remoteread.Known{})
	return t != nil && !t.Deleted && t.Transcript.N >= p.N, err
}
