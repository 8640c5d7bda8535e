package syncer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncplan"
	"github.com/amplifier-go/sessionstorage/internal/limits"
	"github.com/amplifier-go/sessionstorage/sessionstore"
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

// listFormer lists the histories that are not the main line, the latest first. Of several that are
// the same it lists the latest.
func (c *cloud) listFormer(ctx context.Context) (all []head.History, err error) {
	known, err := c.histories(ctx)
	slices.SortFunc(known, func(a, b head.History) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ID, b.ID)) })
	seen := map[segment.Point]bool{c.head.Transcript.Point(): true}
	for _, h := range known {
		if p := h.Extent.Point(); h.Stream == segment.Transcript && !seen[p] {
			seen[p] = true
			all = append(all, h)
		}
	}
	return all, err
}

func (e *Syncer) restoreOnce(ctx context.Context, id string, to head.Extent) error {
	v, leave, err := e.examine(ctx, id)
	if err != nil {
		return err
	}
	defer leave()
	if v.cloud.head.Deleted {
		return ErrRemoved
	}
	if err := v.mayStore(ctx); err != nil {
		return err
	}
	if v.local.present && v.local.main.Point() != v.cloud.head.Transcript.Point() && v.cloud.head.Transcript.Point() != to.Point() {
		return fmt.Errorf("%w: the session here is not in step", ErrDeferred)
	}
	if err := v.switchTo(ctx, to); err != nil {
		return err
	}
	if err := v.cloud.catalogue(ctx); err != nil {
		return err
	}
	if !v.local.present {
		err = v.restore(ctx)
	} else if v.local.main.Point() != v.cloud.head.Transcript.Point() {
		err = v.transcript(ctx)
	}
	return errors.Join(err, v.remember())
}

// switchTo makes the head lead to a history, if it does not yet.
func (v *work) switchTo(ctx context.Context, to head.Extent) error {
	if v.cloud.head.Transcript.Point() == to.Point() {
		return nil
	}
	known, err := v.cloud.listFormer(ctx)
	if err != nil && !errors.Is(err, remoteread.ErrDamaged) {
		return err
	}
	if !slices.ContainsFunc(known, func(k head.History) bool { return k.Extent.Point() == to.Point() }) {
		return limits.Errorf(sessionstore.ErrNotFound, "the remote has no such history")
	}
	p := &draft{next: v.nextHead(), uploads: v.cloud.uploader()}
	if err := v.leaveHistory(ctx, p, head.History{Extent: v.cloud.head.Transcript, Why: head.WhyRestore, Device: v.Device.ID}); err != nil {
		return err
	}
	p.next.Transcript = to
	p.next.Updated = v.Core.Now()
	return v.commit(ctx, p)
}

// Histories returns the histories of a session that are not its main line, the latest
// first. When the list of them is damaged the error Is [remoteread.ErrDamaged], and the
// others are returned.
func (e *Syncer) Histories(ctx context.Context, id string) (all []head.History, err error) {
	return all, e.again(ctx, func() error {
		v, leave, err := e.examine(ctx, id)
		if err != nil {
			return err
		}
		defer leave()
		all, err = v.cloud.listFormer(ctx)
		return err
	})
}

// Restore makes a history the main line. The error Is [remoteread.ErrContended] when other
// devices changed the session all the time.
func (e *Syncer) Restore(ctx context.Context, id string, to head.Extent) error {
	return e.again(ctx, func() error { return e.restoreOnce(ctx, id, to) })
}
