package syncer

import (
	"bytes"
	"context"
	"errors"
	"iter"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// shareLogs finds out which logs of a new session begin with lines of the session
// parent that it was forked from. Both are here, and the cloud has the parent, with
// the head t.
func (v *push) shareLogs(ctx context.Context, parent string, t *head.Head) error {
	v.begins = map[segment.Stream]head.Extent{}
	if !v.Core.Has(parent) {
		return nil
	}
	st := v.States.Load(t.SID, parent)
	for _, l := range v.local.logs {
		own := st.Logs[l.kind.String()]
		if own == nil || l.own.Inherited > 0 || l.end().Bytes < worthSharing {
			continue
		}
		f, err := v.shareLog(ctx, l, parent, t, own)
		if err != nil {
			return err
		}
		if f == nil {
			continue
		}
		at, ok, err := l.mark(ctx, f.N)
		if err != nil || !ok || at.Point() != f.Point {
			return errors.Join(errMoved, err)
		}
		if at.Bytes >= worthSharing {
			r := head.ExtentOf(at)
			r.From = f
			v.begins[l.stream] = r
		}
	}
	return nil
}

// shareLog compares a log with that of the parent, as both leave this device, and
// returns what they share of what the cloud has; nil for nothing. The parent's
// file begins with a stream of this device, or with one that it was given.
func (v *push) shareLog(ctx context.Context, l *ownLog, parent string, t *head.Head, own *replica.OwnLog) (*head.Inherited, error) {
	f := &head.Inherited{SID: t.SID, Stream: segment.LogStream(l.kind, v.Device.ID, own.Generation)}
	if own.Inherited > 0 {
		f.Stream = own.From
	}
	extent := t.Logs[f.Stream]
	limit := extent.N
	if own.Inherited > 0 {
		limit = min(limit, own.FromPoint.N)
	}
	f.From = extent.From
	theirs := &history{source: source{
		core: v.Core, id: parent, name: l.name, redact: v.Redact, window: &window{}, stream: f.Stream,
	}}
	if own.File != nil {
		theirs.Forms, theirs.Mixed = own.File.Forms, own.File.Mixed
	}
	if err := v.compareLogs(ctx, f, theirs, l, limit); err != nil || f.N == 0 {
		return nil, err
	}
	if f.To == extent.Point() {
		return f, nil
	}
	if f.From != nil && f.N < f.From.N {
		return nil, nil // behind the place at which the parent was forked there is nothing
	}
	infos, err := v.cloud.link.Segments(ctx, t, f.Stream, f.N-1)
	if err != nil {
		return nil, err
	}
	if _, err := segment.Tile(f.Stream, infos, f.To, extent.Point()); err != nil {
		return nil, nil // the file there is not what the cloud has
	}
	return f, nil
}

// compareLogs goes through both logs as long as the lines fit, and notes in f how
// far that is, and what makes theirs ours.
func (v *push) compareLogs(ctx context.Context, f *head.Inherited, theirs *history, l *ownLog, limit int64) error {
	next, stop := iter.Pull2(theirs.raw(ctx, 0))
	defer stop()
	origin := segment.Origin(l.stream)
	f.Point, f.To = origin, origin
	for line, err := range l.lines(ctx, l.begin()) {
		if err != nil {
			return err
		}
		if f.N == limit {
			return nil
		}
		raw, err, ok := next()
		if err != nil {
			return gone(err)
		}
		if !ok {
			return nil
		}
		was := theirs.leaving(f.N, raw)
		if f.N == 0 && !bytes.Equal(was, line) {
			f.Session, f.Parent = v.id, theirs.id
		}
		if !bytes.Equal(f.Line(was), line) {
			return nil
		}
		f.Point, f.To = f.Point.Add(line), f.To.Add(was)
	}
	return nil
}

// worthSharing is how much a fork must have in common with its parent, in
// bytes, before it refers to the parent's segments.
const worthSharing = 4 << 10
