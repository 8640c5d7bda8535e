package hybrid

import (
	"context"

	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/syncplan"
	"github.com/amplifier-go/sessionstorage/internal/tip"
)

// packRewrite stores from the first differing line on, and notes the former
// tip.
func (v *visit) packRewrite(ctx context.Context, a syncplan.Action, p *parcel) error {
	if err := v.sound(ctx); err != nil {
		return err
	}
	common, err := v.common(ctx)
	if err != nil {
		return err
	}
	was := v.tip.Transcript
	over := p.next.Retire(tip.Old{
		Point: was.Point(), Bytes: was.Bytes, Buckets: was.Buckets,
		Why: "rewrite", Device: v.dev.id, At: v.serverTime(),
	})
	if err := v.spill(ctx, &p.next.OldMore, over, nil, p.box); err != nil {
		return err
	}
	if a.KeepRemote {
		if err := v.storeBranch(ctx, was, p.box); err != nil {
			return err
		}
		over := p.next.Branch(tip.Branch{
			ID: segment.BranchID(v.sid, was.Point()), Tip: was.Point(), Common: common, Device: v.tip.Writer.Device, At: v.serverTime(),
		}, "")
		if err := v.spill(ctx, &p.next.BranchMore, nil, over, p.box); err != nil {
			return err
		}
	}
	return v.packFrom(ctx, common, p)
}

// packBranch stores this device's line as a branch.
func (v *visit) packBranch(ctx context.Context, a syncplan.Action, p *parcel) error {
	reach := tip.ReachOf(v.main.end())
	p.branch = &tip.Branch{ID: segment.BranchID(v.sid, reach.Point()), Tip: reach.Point(), Device: v.dev.id, At: v.serverTime()}
	if a.Fork {
		p.fork = v.forkID(p.branch.Tip)
		p.branch.KeptAs = p.fork
	}
	if a.Stored {
		return nil
	}
	common, err := v.common(ctx)
	if err != nil {
		return err
	}
	p.branch.Common = common
	if err := v.storeFrom(ctx, common, p.box); err != nil {
		return err
	}
	if err := v.storeBranch(ctx, reach, p.box); err != nil {
		return err
	}
	p.changed = true
	return v.spill(ctx, &p.next.BranchMore, nil, p.next.Branch(*p.branch, a.Replaces), p.box)
}

// storeBranch stores the document of a branch that ends at r. It never changes
// and can be found without the tip.
func (v *visit) storeBranch(ctx context.Context, r tip.Reach, box *outbox) error {
	b := v.tip.Clone()
	b.Transcript, b.Old, b.Branches, b.OldMore, b.BranchMore = r, nil, nil, nil, nil
	b.Writer = tip.Writer{Device: v.dev.id, Host: v.dev.host, Library: library}
	b.Updated = v.in.Now()
	doc, err := b.EncodeBranch()
	if err != nil {
		return err
	}
	return box.add(ctx, doc)
}

// common returns how many records this device's transcript shares with the
// cloud's.
func (v *visit) common(ctx context.Context) (int64, error) {
	infos, err := v.listed(ctx)
	if err != nil {
		return 0, err
	}
	return v.shared(ctx, infos, v.tip.Transcript.Point())
}

func (v *visit) shared(ctx context.Context, infos []segment.Info, with segment.Point) (int64, error) {
	spans, err := segment.Tile(segment.Transcript, infos, segment.Origin(segment.Transcript), with)
	if err != nil {
		return 0, damaged(err)
	}
	if len(spans) == 0 {
		return 0, nil
	}
	return segment.Common(spans, v.main.end().N, func(n int64) (segment.Hash, error) {
		m, ok, err := v.main.mark(ctx, n)
		if err == nil && !ok {
			err = errMoved
		}
		return m.Hash, err
	})
}
