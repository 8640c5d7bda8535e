package syncer

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/syncplan"
)

// pushLogs stores what is new in this device's logs, and reports whether there
// was any.
func (v *push) pushLogs(ctx context.Context, p *draft) (changed bool, err error) {
	for _, l := range v.local.logs {
		if v.keptLog(l.stream) { // the cloud had more of it than the file here has
			continue
		}
		if err := v.resume(ctx, l, p.next); err != nil {
			return changed, err
		}
		extent := p.next.Logs[l.stream]
		what, err := syncplan.PlanLog(l.point(), func(p segment.Point) (bool, error) { return l.has(ctx, p) }, extent.Point(), l.own.Base)
		from := extent.N
		switch {
		case err != nil || what == syncplan.LogIdle:
		case what == syncplan.LogRewind:
			from, err = v.leaveLog(ctx, l, extent, p)
		case what == syncplan.LogAnew:
			for from = 0; err == nil && p.next.Logs[l.stream].N > 0; {
				l.history, err = v.local.anew(ctx, l.kind, l.name, l.own, l.own.Generation+1)
			}
		}
		if err != nil {
			return changed, err
		}
		if what == syncplan.LogIdle || l.end().N == 0 {
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
func (v *push) leaveLog(ctx context.Context, l *ownLog, was head.Extent, p *draft) (common int64, err error) {
	infos, err := v.cloud.link.Segments(ctx, v.cloud.head, l.stream, 0)
	if err != nil {
		return 0, err
	}
	if common, err = l.shared(ctx, infos, was.Point()); err != nil && !errors.Is(err, remoteread.ErrDamaged) {
		return 0, err
	}
	return common, v.leave(ctx, p, head.History{Stream: l.stream, Extent: was, Common: common, Why: head.WhyRewrite, Device: v.Device.ID})
}

// resume finds the generation of a log whose state was lost: the latest that
// the cloud has of this device. That another device's lines stand before it is
// only known from the state; without it they are sent once more.
func (v *push) resume(ctx context.Context, l *ownLog, next *head.Head) (err error) {
	if _, known := next.Logs[l.stream]; known || l.own.Generation > 1 || l.own.Inherited > 0 {
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
	if l.history, err = v.local.logSource(l.kind, l.name, l.own).scan(ctx, nil, true); err == nil {
		l.own.File = &l.Followed
	}
	return err
}

// pushLog stores the lines behind the first n, which are stored.
func (v *push) pushLog(ctx context.Context, l *ownLog, n int64, next *head.Head, uploads *uploader) error {
	from, ok, err := l.mark(ctx, n)
	if err != nil || !ok {
		return fmt.Errorf("%w: %s", errMoved, l.name)
	}
	large, err := l.largeLine(ctx, from.N)
	if err != nil {
		return err
	}
	c := segment.NewCutter(v.cloud.cut(l.end().Bytes-from.Bytes), segment.From{Stream: l.stream, Mark: from, Large: large})
	if err := uploads.take(ctx, c.Documents(l.lines(ctx, from))); err != nil {
		return err
	}
	at := c.At()
	if at.Mark.Point() != l.point() {
		return errMoved
	}
	l.own.Large = nil
	if at.Large != nil {
		l.own.Large = &segment.Large{N: at.Large.N, Since: at.Large.Since, Wasted: at.Large.Wasted}
	}
	next.Logs[l.stream] = head.ExtentOf(l.end()).Ruled(next.RulesOf(l.stream), n, v.redaction())
	return nil
}
