package syncer

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/privacy"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncplan"
	"github.com/amplifier-go/sessionstorage/internal/limits"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// apply does what was planned: first the cloud, then the files here.
func (v *work) apply(ctx context.Context, a syncplan.Action) error {
	switch {
	case a.Kind == syncplan.Blocked:
		return privacy.ErrRedaction
	case a.Kind == syncplan.Deleted:
		return v.deleted(a)
	case !v.local.present && a.Kind == syncplan.Idle:
		return v.absent(a)
	case !v.local.present:
		v.out.State = UpToDate
		return v.restore(ctx)
	}
	p, err := v.build(ctx, a)
	if err != nil {
		return err
	}
	if p.changed {
		if err := v.commit(ctx, p); err != nil {
			return err
		}
	}
	if err := v.applyLocal(ctx, a, p); err != nil {
		return err
	}
	if v.fetches && v.Mode != Resume && v.cloud.head != nil {
		return v.fetchLogs(ctx, nil)
	}
	return nil
}

// deleted tells of a session that is no longer in the cloud.
func (v *work) deleted(a syncplan.Action) error {
	v.out.State = Removed
	if a.Why == syncplan.AddedSince {
		return errors.Join(v.remember(), fmt.Errorf("%w; it has lines that the cloud never had", ErrRemoved))
	}
	return nil
}

// absent tells of a session that is not here.
func (v *work) absent(a syncplan.Action) error {
	v.out.State = Remote
	switch {
	case a.Why == syncplan.DeletedThere:
		v.out.State = Removed
		if v.recreates {
			return limits.Errorf(sessionstore.ErrNotFound, "the session is not on this device, and was removed from the remote")
		}
		if v.Named {
			return ErrRemoved
		}
	case a.Why == syncplan.Nowhere && v.Named:
		return limits.Errorf(sessionstore.ErrNotFound, "neither this device nor the cloud has the session")
	}
	return nil
}

// applyLocal changes the files here, once the cloud has what it lacked.
func (v *work) applyLocal(ctx context.Context, a syncplan.Action, p *draft) error {
	v.out.State = UpToDate
	switch a.Kind {
	case syncplan.Create, syncplan.Push, syncplan.Rewrite:
		if v.fetches {
			v.out.State = Pending
		} else if a.Kind == syncplan.Rewrite {
			v.out.Did = Rewritten
		}
	case syncplan.Behind:
		if err := v.wait(v.why); err != nil {
			return err
		}
		if a.Reason == syncplan.Diverged || a.Reason == syncplan.RemoteRewound { // the branch is stored already
			v.out.Did = Diverged
		}
		return nil
	case syncplan.Record:
		v.out.State, v.out.Why = Behind, v.why
		v.out.Did, v.out.Conflict = Diverged, true
		return nil
	case syncplan.Pull:
		return v.transcript(ctx)
	case syncplan.Diverge:
		return v.diverge(ctx, p)
	}
	return v.takeFiles(ctx)
}

// takeFiles writes the small files that the cloud has newer.
func (v *work) takeFiles(ctx context.Context) error {
	if !v.local.takes() {
		return v.setTime(ctx)
	}
	if why := v.local.busy(); why != nil {
		return v.wait(why)
	}
	return v.install(ctx, nil)
}

func (l *local) takes() bool {
	for _, f := range l.files {
		if f.take != nil {
			return true
		}
	}
	return false
}

// diverge keeps this device's line as a session of its own where that is asked
// for, and goes on with the cloud's.
func (v *work) diverge(ctx context.Context, p *draft) error {
	keptAs := ""
	if p.copy != nil {
		if err := v.local.storeCopy(ctx, p.copy, p.common); err != nil {
			return fmt.Errorf("keep this device's line: %w", err)
		}
		keptAs = p.copy.id
	}
	if err := v.transcript(ctx); err != nil {
		return err
	}
	v.out.Did, v.out.Conflict, v.out.KeptAs = Diverged, true, keptAs
	return nil
}
