package syncer

import (
	"context"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/remote"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/syncplan"
)

// buildRewrite stores from the first differing line on, and notes the former
// head.
func (v *push) buildRewrite(ctx context.Context, a syncplan.Action, p *draft) error {
	if err := v.local.checkSound(ctx); err != nil {
		return err
	}
	common, err := v.common(ctx)
	if err != nil {
		return err
	}
	was := v.cloud.head.Transcript
	over := p.next.Retire(head.Old{
		Point: was.Point(), Bytes: was.Bytes, Rules: was.Rules,
		Why: "rewrite", Device: v.Device.ID, At: v.cloud.serverTime(),
	})
	if err := v.cloud.spill(ctx, &p.next.OldMore, remote.Change{Old: over}, p.uploads); err != nil {
		return err
	}
	if a.KeepRemote {
		if err := v.cloud.storeBranch(ctx, was, p.uploads); err != nil {
			return err
		}
		p.replaces = a.Replaces
		p.branch = &head.Branch{
			ID: segment.BranchID(v.sid, was.Point()), Tip: was.Point(), Common: common, Device: v.cloud.head.Writer.Device, At: v.cloud.serverTime(),
		}
		if err := v.list(ctx, *p.branch, p); err != nil {
			return err
		}
	}
	return v.buildFrom(ctx, common, p)
}

// buildBranch stores this device's line as a branch.
func (v *push) buildBranch(ctx context.Context, a syncplan.Action, p *draft) error {
	extent := head.ExtentOf(v.local.main.end())
	p.branch = &head.Branch{ID: segment.BranchID(v.sid, extent.Point()), Tip: extent.Point(), Device: v.Device.ID, At: v.cloud.serverTime()}
	common, err := v.common(ctx)
	if err != nil {
		return err
	}
	p.branch.Common = common
	extent = extent.Ruled(v.cloud.head.RulesOf(segment.Transcript), common, v.redaction())
	if a.Fork {
		if p.copy, err = v.local.conflictCopy(ctx, common); err != nil {
			return err
		}
		p.branch.KeptAs = p.copy.id
	}
	if a.Stored {
		return nil
	}
	p.replaces = a.Replaces
	if err := v.storeFrom(ctx, common, p.uploads); err != nil {
		return err
	}
	if err := v.cloud.storeBranch(ctx, extent, p.uploads); err != nil {
		return err
	}
	p.changed = true
	return v.list(ctx, *p.branch, p)
}

// storeBranch stores the document of a branch that ends at r. It never changes
// and can be found without the head.
func (c *cloud) storeBranch(ctx context.Context, r head.Extent, uploads *uploader) error {
	b := c.head.Clone()
	b.Transcript, b.Old, b.Branches, b.OldMore, b.BranchMore = r, nil, nil, nil, nil
	b.Writer = head.Writer{Device: c.Device.ID, Host: c.Device.Host, Library: library}
	b.Updated = c.Core.Now()
	doc, err := b.EncodeBranch()
	if err != nil {
		return err
	}
	return uploads.add(ctx, doc)
}

// checkSound refuses to replace the history in the cloud by one that the store
// itself would not take as it lies on the disk, such as what a power cut left.
func (l *local) checkSound(ctx context.Context) error {
	if l.doubt != nil {
		return l.doubt
	}
	s, err := l.Store.Load(ctx, l.id)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDeferred, err)
	}
	if s.Recovered != nil {
		return fmt.Errorf("%w: the transcript had to be recovered; the next write mends it", ErrDeferred)
	}
	if !l.main.there && l.st.Base != nil && l.st.Base.N > 0 {
		return fmt.Errorf("%w: the transcript is gone", ErrDeferred)
	}
	return nil
}
