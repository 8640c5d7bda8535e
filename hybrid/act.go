package hybrid

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/syncplan"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// act does what was planned: first the cloud, then the files here.
func (v *visit) act(ctx context.Context, a syncplan.Action) error {
	switch {
	case a.Kind == syncplan.Blocked:
		return ErrRedaction
	case a.Kind == syncplan.Deleted:
		return v.deleted(a)
	case !v.present && a.Kind == syncplan.Idle:
		return v.absent(a)
	case !v.present:
		v.out.state, v.out.pulled = Pulled, true
		return v.restore(ctx)
	}
	p, err := v.pack(ctx, a)
	if err != nil {
		return err
	}
	if p.changed {
		v.op = p.next.Op
		if err := v.commit(ctx, p); err != nil {
			return err
		}
	}
	if err := v.follow(ctx, a, p); err != nil {
		return err
	}
	if v.pull && v.tip != nil {
		return v.fetchLogs(ctx, nil)
	}
	return nil
}

// deleted tells of a session that is no longer in the cloud.
func (v *visit) deleted(a syncplan.Action) error {
	v.out.state = DeletedRemotely
	if a.Why == syncplan.AddedSince {
		return errors.Join(v.remember(), fmt.Errorf("%w; it has lines that the cloud never had", ErrDeleted))
	}
	return nil
}

// absent tells of a session that is not here.
func (v *visit) absent(a syncplan.Action) error {
	v.out.state = Remote
	switch {
	case a.Why == syncplan.DeletedThere:
		v.out.state = DeletedRemotely
		if v.named {
			return ErrDeleted
		}
	case a.Why == syncplan.Nowhere && v.named:
		return sessionstore.ErrNotFound
	}
	return nil
}

// follow changes the files here, once the cloud has what it lacked.
func (v *visit) follow(ctx context.Context, a syncplan.Action, p *parcel) error {
	v.out.state = UpToDate
	if v.out.pushed {
		v.out.state = Pushed
	}
	switch a.Kind {
	case syncplan.Create, syncplan.Push, syncplan.Rewrite:
		if v.pull {
			v.out.state = Pending
		} else if a.Kind == syncplan.Rewrite {
			v.out.state = Rewritten
		}
	case syncplan.Behind:
		v.out.state = Behind
		return nil
	case syncplan.Record:
		v.out.state = Diverged
		v.out.kept = &Conflict{SessionID: v.id}
		return nil
	case syncplan.Pull:
		return v.pullMain(ctx)
	case syncplan.Diverge:
		return v.part(ctx, a, p)
	}
	return v.takeFiles(ctx)
}

// takeFiles writes the small files that the cloud has newer.
func (v *visit) takeFiles(ctx context.Context) error {
	if !v.takes() {
		return v.even(ctx)
	}
	if v.live() {
		v.out.state = Behind
		return nil
	}
	return v.land(ctx, nil)
}

func (v *visit) takes() bool {
	for _, f := range v.files {
		if f.take != nil {
			return true
		}
	}
	return false
}

// part keeps this device's line as a session of its own where that is asked
// for, and goes on with the cloud's.
func (v *visit) part(ctx context.Context, _ syncplan.Action, p *parcel) error {
	kept := Conflict{SessionID: v.id}
	if p.fork != "" {
		if err := v.keepAsFork(ctx, p.fork, p.branch.Common); err != nil {
			return fmt.Errorf("keep this device's line: %w", err)
		}
		kept.KeptAs = p.fork
	}
	if err := v.pullMain(ctx); err != nil {
		return err
	}
	v.out.kept = &kept
	v.out.state = Diverged
	return nil
}
