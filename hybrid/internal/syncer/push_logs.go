package syncer

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncplan"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
)

// pushLogs stores what is new in this device's logs, and reports whether there
// was any.
func (v *work) pushLogs(ctx context.Context, p *draft) (changed bool, err error) {
	for _, l := range v.local.logs {
		if v.keptLog(l.Stream) { // the cloud had more of it than the file here has
			continue
		}
		if err := v.resume(ctx, l, p.next); err != nil {
			return changed, err
		}
		extent := p.next.Logs[l.Stream]
		what, err := syncplan.PlanLog(l.Point(), func(p segment.Point) (bool, error) { return l.Has(ctx, p) }, extent.Point(), l.own.Base)
		from := extent.N
		switch {
		case err != nil || what == syncplan.LogIdle:
		case what == syncplan.LogRewind:
			from, err = v.leaveLog(ctx, l, extent, p)
		case what == syncplan.LogAnew:
			for from = 0; err == nil && p.next.Logs[l.Stream].N > 0; {
				l.Chain, err = v.local.anew(ctx, l.kind, l.Name, l.own, l.own.Generation+1)
			}
		}
		if err != nil {
			return changed, err
		}
		if what == syncplan.LogIdle || l.End().N == 0 {
			continue
		}
		if err := v.pushLog(ctx, l, from, p.next, p.uploads); err != nil {
			return changed, err
		}
		changed = true
	}
	return changed, nil
}

// leaveLog makes a history of a log that was cut or replaced here, and returns how many of
// its first lines are here.
func (v *work) leaveLog(ctx context.Context, l *ownLog, was head.Extent, p *draft) (common int64, err error) {
	infos, err := v.cloud.link.Segments(ctx, v.cloud.head, l.Stream, 0)
	if err != nil {
		return 0, err
	}
	if common, err = shared(ctx, l.Chain, infos, was.Point()); err != nil && !errors.Is(err, remoteread.ErrDamaged) {
		return 0, err
	}
	return common, v.leaveHistory(ctx, p, head.History{Stream: l.Stream, Extent: was, Common: common, Why: head.WhyRewrite, Device: v.Device.ID})
}

// resume finds the generation of a log whose state was lost: the latest that
// the cloud has of this device. That another device's lines stand before it is
// only known from the state; without it they are sent once more.
func (v *work) resume(ctx context.Context, l *ownLog, next *head.Head) (err error) {
	if _, known := next.Logs[l.Stream]; known || l.own.Generation > 1 || l.own.Inherited > 0 {
		return nil
	}
	latest := 0
	for st := range next.Logs {
		if st.Kind() == l.kind && st.Device() == v.Device.ID {
			latest = max(latest, st.Generation())
		}
	}
	if latest < 2 {
		return nil
	}
	*l.own = replica.OwnLog{Generation: latest}
	if l.Chain, err = v.local.logSource(l.kind, l.Name, l.own).Scan(ctx, nil, true); err == nil {
		l.own.File = &l.Followed
	}
	return err
}

// pushLog stores the lines behind the first n, which are stored.
func (v *work) pushLog(ctx context.Context, l *ownLog, n int64, next *head.Head, uploads *uploader) error {
	from, ok, err := l.Mark(ctx, n)
	if err != nil || !ok {
		return fmt.Errorf("%w: %s", track.ErrMoved, l.Name)
	}
	large, err := l.largeLine(ctx, from.N)
	if err != nil {
		return err
	}
	c := segment.NewCutter(v.cloud.cut(l.End().Bytes-from.Bytes), segment.From{Stream: l.Stream, Mark: from, Large: large})
	if err := uploads.take(ctx, c.Documents(l.Lines(ctx, from))); err != nil {
		return err
	}
	at := c.At()
	if at.Mark.Point() != l.Point() {
		return track.ErrMoved
	}
	l.own.Large = nil
	if at.Large != nil {
		l.own.Large = &segment.Large{N: at.Large.N, Since: at.Large.Since, Wasted: at.Large.Wasted}
	}
	next.Logs[l.Stream] = head.ExtentOf(l.End()).Ruled(next.RulesOf(l.Stream), n, v.redaction())
	return nil
}
