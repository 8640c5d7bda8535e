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
		Why: "rewrite", Device: v.dev.id, At: v.in.Now().UTC(),
	})
	for _, o := range over {
		if err := v.storeOld(ctx, o, p.box); err != nil {
			return err
		}
	}
	if a.KeepRemote {
		if err := v.storeBranch(ctx, was, p.box); err != nil {
			return err
		}
		p.next.Branch(tip.Branch{
			ID: segment.BranchID(v.sid, was.Point()), Tip: was.Point(), Common: common, Device: v.tip.Writer.Device, At: v.in.Now().UTC(),
		}, "")
	}
	return v.packFrom(ctx, common, p)
}

// packBranch stores this device's line as a branch.
func (v *visit) packBranch(ctx context.Context, a syncplan.Action, p *parcel) error {
	reach := tip.ReachOf(v.main.end())
	p.branch = &tip.Branch{ID: segment.BranchID(v.sid, reach.Point()), Tip: reach.Point(), Device: v.dev.id, At: v.in.Now().UTC()}
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
	p.next.Branch(*p.branch, a.Replaces) // what has no room stays listed by its document
	p.changed = true
	return nil
}

// storeBranch stores the document of a branch that ends at r. It never changes
// and can be found without the tip.
func (v *visit) storeBranch(ctx context.Context, r tip.Reach, box *outbox) error {
	b := v.tip.Clone()
	b.Transcript, b.Old, b.Branches = r, nil, nil
	b.Writer = tip.Writer{Device: v.dev.id, Host: v.dev.host, Library: library}
	b.Updated = v.in.Now()
	doc, err := b.EncodeBranch()
	if err != nil {
		return err
	}
	return box.add(ctx, doc)
}

// storeOld keeps a former tip that has no room in the tip any more as a
// branch.
func (v *visit) storeOld(ctx context.Context, o tip.Old, box *outbox) error {
	return v.storeBranch(ctx, tip.Reach{N: o.N, Hash: o.Hash, Bytes: o.Bytes, Buckets: o.Buckets}, box)
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
