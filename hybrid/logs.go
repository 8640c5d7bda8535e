package hybrid

import (
	"context"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/syncplan"
	"github.com/amplifier-go/sessionstorage/internal/tip"
)

// logNames are the logs of a session. Each device has its own stream of each.
var logNames = []struct {
	kind segment.Kind
	name string
}{
	{segment.KindEvents, "events.jsonl"},
	{segment.KindPhases, "phase_outputs.jsonl"},
	{segment.KindConversation, "session_conversation.jsonl"},
	{segment.KindStates, "state_history.jsonl"},
}

// ownHistory is a log of this device as it stands. It begins behind what the
// file took over from another device.
type ownHistory struct {
	*history
	kind segment.Kind
	own  *ownLog
}

func (v *visit) lookAtLogs(ctx context.Context) error {
	v.logs = nil
	for _, l := range logNames {
		own := v.st.Logs[l.kind.String()]
		if own == nil {
			own = &ownLog{Generation: 1}
		}
		h, err := v.logSource(l.kind, l.name, own).look(ctx, own.File, true)
		if err != nil {
			return err
		}
		if h.there && h.end().Offset < own.Adopted { // cut below what was taken over
			if h, err = v.anew(ctx, l.kind, l.name, own); err != nil {
				return err
			}
		}
		if !h.there {
			continue
		}
		own.File = &h.followed
		v.keepLog(l.kind, own)
		v.logs = append(v.logs, &ownHistory{history: h, kind: l.kind, own: own})
	}
	return nil
}

func (v *visit) keepLog(kind segment.Kind, own *ownLog) {
	if v.st.Logs == nil {
		v.st.Logs = map[string]*ownLog{}
	}
	v.st.Logs[kind.String()] = own
}

func (v *visit) logSource(kind segment.Kind, name string, own *ownLog) source {
	return source{
		in: v.in, id: v.id, name: name, start: own.Adopted, redact: v.opts.Redact, window: &v.window,
		stream: segment.LogStream(kind, v.dev.id, own.Generation),
	}
}

// anew looks at a log as the next generation of its stream, with all it holds.
func (v *visit) anew(ctx context.Context, kind segment.Kind, name string, own *ownLog) (*history, error) {
	*own = ownLog{Generation: own.Generation + 1}
	h, err := v.logSource(kind, name, own).look(ctx, nil, true)
	if err == nil {
		own.File = &h.followed
	}
	return h, err
}

// pushLogs stores what is new in this device's logs, and reports whether there
// was any.
func (v *visit) pushLogs(ctx context.Context, next *tip.Tip, box *outbox) (changed bool, err error) {
	for _, l := range v.logs {
		if err := v.resume(ctx, l, next); err != nil {
			return changed, err
		}
		reach := next.Logs[l.stream]
		switch what, err := v.planLog(ctx, l, reach); {
		case err != nil:
			return changed, err
		case what == syncplan.LogAnew:
			if l.history, err = v.anew(ctx, l.kind, l.name, l.own); err != nil {
				return changed, err
			}
			reach = next.Logs[l.stream]
		case what != syncplan.LogPush:
			continue
		}
		if l.end().N == 0 {
			continue
		}
		if err := v.pushLog(ctx, l, reach, next, box); err != nil {
			return changed, err
		}
		changed = true
	}
	return changed, nil
}

func (v *visit) planLog(ctx context.Context, l *ownHistory, r tip.Reach) (syncplan.LogAction, error) {
	return syncplan.PlanLog(l.point(),
		func(p segment.Point) (bool, error) { return l.has(ctx, p) }, r.Point(),
		func(p segment.Point) (bool, error) {
			infos, err := v.link.segments(ctx, v.tip, l.stream, r.Buckets, p.N-1)
			if err != nil {
				return false, err
			}
			_, err = segment.Tile(l.stream, infos, p, r.Point())
			return err == nil, nil
		})
}

// resume finds the generation of a log whose state was lost: the latest that
// the cloud has of this device. That another device's lines stand before it is
// only known from the state; without it they are sent once more.
func (v *visit) resume(ctx context.Context, l *ownHistory, next *tip.Tip) (err error) {
	if _, known := next.Logs[l.stream]; known || l.own.Generation > 1 || l.own.Adopted > 0 {
		return nil
	}
	latest := 0
	for st := range next.Logs {
		if st.Kind() == l.kind && st.Device() == v.dev.id {
			latest = max(latest, st.Generation())
		}
	}
	if latest < 2 {
		return nil
	}
	*l.own = ownLog{Generation: latest}
	if l.history, err = v.logSource(l.kind, l.name, l.own).look(ctx, nil, true); err == nil {
		l.own.File = &l.followed
	}
	return err
}

// pushLog stores the lines behind what is stored.
func (v *visit) pushLog(ctx context.Context, l *ownHistory, r tip.Reach, next *tip.Tip, box *outbox) error {
	from, ok, err := l.mark(ctx, r.N)
	if err != nil || !ok {
		return fmt.Errorf("%w: %s", errMoved, l.name)
	}
	large, err := l.largeLine(ctx, from.N)
	if err != nil {
		return err
	}
	c := segment.NewCutter(v.cut(l.end().Bytes-from.Bytes), segment.From{Stream: l.stream, Mark: from, Large: large})
	if err := box.take(ctx, c.Documents(l.lines(ctx, from))); err != nil {
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
	next.Logs[l.stream] = tip.ReachOf(l.end())
	return nil
}

// largeLine reads the line again that the next long one may be stored as a
// difference to. Without it that one is stored whole.
func (l *ownHistory) largeLine(ctx context.Context, before int64) (*segment.Large, error) {
	if l.own.Large == nil || l.own.Large.N >= before { // of lines that were not stored after all
		return nil, nil
	}
	at, ok, err := l.mark(ctx, l.own.Large.N)
	if err != nil || !ok {
		return nil, err
	}
	large := *l.own.Large
	for line, err := range l.lines(ctx, at) {
		large.Line = line
		return &large, err
	}
	return nil, nil
}

func (v *visit) cut(size int64) segment.Options {
	return segment.Options{SID: v.sid, Cap: v.cap, Size: size}
}
