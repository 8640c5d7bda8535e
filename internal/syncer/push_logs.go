package syncer

import (
	"context"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/syncplan"
)

// pushLogs stores what is new in this device's logs, and reports whether there
// was any.
func (v *push) pushLogs(ctx context.Context, next *head.Head, uploads *uploader) (changed bool, err error) {
	for _, l := range v.local.logs {
		if v.keptLog(l.stream) { // the cloud had more of it than the file here has
			continue
		}
		if err := v.resume(ctx, l, next); err != nil {
			return changed, err
		}
		extent := next.Logs[l.stream]
		switch what, err := v.cloud.planLog(ctx, l, extent); {
		case err != nil:
			return changed, err
		case what == syncplan.LogAnew:
			if l.history, err = v.local.anew(ctx, l.kind, l.name, l.own); err != nil {
				return changed, err
			}
			extent = next.Logs[l.stream]
		case what != syncplan.LogPush:
			continue
		}
		if l.end().N == 0 {
			continue
		}
		if err := v.pushLog(ctx, l, extent, next, uploads); err != nil {
			return changed, err
		}
		changed = true
	}
	return changed, nil
}

// planLog decides for a log, and remembers that it was cut: the cloud is asked for that
// once.
func (c *cloud) planLog(ctx context.Context, l *ownLog, r head.Extent) (syncplan.LogAction, error) {
	is := replica.CutLog{Here: l.point(), There: r.Point()}
	if l.own.Cut == is && is.Here != is.There {
		return syncplan.LogHold, nil
	}
	what, err := syncplan.PlanLog(l.point(),
		func(p segment.Point) (bool, error) { return l.has(ctx, p) }, r.Point(),
		func(p segment.Point) (bool, error) {
			infos, err := c.link.Segments(ctx, c.head, l.stream, p.N-1)
			if err != nil {
				return false, err
			}
			_, err = segment.Tile(l.stream, infos, p, r.Point())
			return err == nil, nil
		})
	if l.own.Cut = (replica.CutLog{}); what == syncplan.LogHold {
		l.own.Cut = is
	}
	return what, err
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

// pushLog stores the lines behind what is stored.
func (v *push) pushLog(ctx context.Context, l *ownLog, r head.Extent, next *head.Head, uploads *uploader) error {
	from, ok, err := l.mark(ctx, r.N)
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
	next.Logs[l.stream] = head.ExtentOf(l.end()).Ruled(next.RulesOf(l.stream), r.N, v.redaction())
	return nil
}
