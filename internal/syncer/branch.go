package syncer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/syncplan"
)

// buildRewrite stores from the first differing line on, and notes the former
// head.
func (v *work) buildRewrite(ctx context.Context, a syncplan.Action, p *draft) error {
	if err := v.local.checkSound(ctx); err != nil {
		return err
	}
	common, err := v.common(ctx)
	if err != nil {
		return err
	}
	former := head.History{Extent: v.cloud.head.Transcript, Common: common, Why: head.WhyRewrite, Device: v.Device.ID}
	if a.KeepRemote {
		former.Why, former.Device = head.WhyBranch, v.cloud.head.Writer.Device
	}
	if err := v.leaveHistory(ctx, p, former); err != nil {
		return err
	}
	if err := v.replace(ctx, a.Replaces, p); err != nil {
		return err
	}
	return v.buildFrom(ctx, common, p)
}

// buildBranch stores this device's line as a branch.
func (v *work) buildBranch(ctx context.Context, a syncplan.Action, p *draft) (err error) {
	if p.common, err = v.common(ctx); err != nil {
		return err
	}
	b := head.History{Common: p.common, Why: head.WhyBranch, Device: v.Device.ID}
	b.Extent = head.ExtentOf(v.local.main.End()).Ruled(v.cloud.head.RulesOf(segment.Transcript), p.common, v.redaction())
	if a.Fork {
		if p.copy, err = v.local.conflictCopy(ctx, p.common); err != nil {
			return err
		}
		b.KeptAs = p.copy.id
	}
	if a.Stored {
		return nil
	}
	if err := v.storeFrom(ctx, p.common, p.uploads); err != nil {
		return err
	}
	p.changed = true
	return errors.Join(v.leaveHistory(ctx, p, b), v.replace(ctx, a.Replaces, p))
}

// leave makes the draft's head name a history, and stores its document.
func (v *work) leaveHistory(ctx context.Context, p *draft, h head.History) error {
	h.ID, h.Stream, h.At = segment.HistoryID(v.sid, v.Random.Name(8)), cmp.Or(h.Stream, segment.Transcript), v.cloud.serverTime()
	doc, err := h.Encode(v.sid)
	if err != nil {
		return err
	}
	p.next.Histories.Add(&h)
	return p.uploads.add(ctx, doc)
}

// maxReplaced is how many histories a change removes, so that it fits into one request.
const maxReplaced = 50

// replace makes the draft's head name some histories no more, and removes their documents
// with the change of the head. More than [maxReplaced] stay, until the next change.
func (v *work) replace(ctx context.Context, ids []string, p *draft) error {
	if len(ids) == 0 {
		return nil
	}
	known, err := v.cloud.histories(ctx)
	for i := range known {
		if h := &known[i]; slices.Contains(ids[:min(len(ids), maxReplaced)], h.ID) {
			p.next.Histories.Drop(h)
			p.uploads.remove = append(p.uploads.remove, h.ID)
		}
	}
	return err
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
	if !l.main.There && l.st.Base != nil && l.st.Base.N > 0 {
		return fmt.Errorf("%w: the transcript is gone", ErrDeferred)
	}
	return nil
}
