package syncer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

func (s *work) verifyAll(ctx context.Context, r *Report, mend bool) error {
	if err := s.cloud.verifyStream(ctx, segment.Transcript, s.cloud.head.Transcript, r); err != nil {
		return err
	}
	for _, st := range slices.Sorted(maps.Keys(s.cloud.head.Logs)) {
		if err := s.cloud.verifyStream(ctx, st, s.cloud.head.Logs[st], r); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.cloud.head.Files)) {
		if _, err := s.cloud.link.File(ctx, s.sid, s.cloud.head.Files[name]); err != nil {
			if !errors.Is(err, remoteread.ErrDamaged) {
				return err
			}
			r.Problems = append(r.Problems, Problem{File: name, Err: err})
		}
	}
	if !mend || len(r.Problems) == 0 {
		return nil
	}
	if err := s.mendAll(ctx, r); err != nil {
		return fmt.Errorf("store again: %w", err)
	}
	return nil
}

// verifyStream reads a stream from its beginning, and goes on behind what it
// cannot read.
func (c *cloud) verifyStream(ctx context.Context, st segment.Stream, extent head.Extent, r *Report) error {
	infos, err := c.link.Segments(ctx, c.head, st, 0)
	if err != nil {
		return err
	}
	for _, run := range runs(st, infos, segment.Origin(st), extent.Point()) {
		if run.missing {
			r.Problems = append(r.Problems, Problem{
				Stream: string(st), From: run.from.N, To: run.to.N, start: run.from, end: run.to,
				Err: fmt.Errorf("%w: no segment", remoteread.ErrDamaged),
			})
			continue
		}
		if err := c.verifyRun(ctx, st, infos, run, r); err != nil {
			return err
		}
	}
	return nil
}

// run is a part of a stream that segments cover without a gap, or that none
// covers.
type run struct {
	from, to segment.Point
	missing  bool
	spans    []segment.Span
}

// runs takes a stream apart at its gaps, from origin on, in ascending order.
func runs(st segment.Stream, infos []segment.Info, origin, end segment.Point) (all []run) {
	for at := end; at.N > origin.N; {
		low, spans := lowest(st, infos, origin, at)
		if len(spans) > 0 {
			all = append(all, run{from: low, to: at, spans: spans})
			at = low
			continue
		}
		below := origin
		for _, in := range infos {
			if in.Stream == st && in.To.N < at.N && in.To.N > below.N {
				below = in.To
			}
		}
		all = append(all, run{from: below, to: at, missing: true})
		at = below
	}
	slices.Reverse(all)
	return all
}

// lowest walks back from a point as far as segments reach without a gap.
func lowest(st segment.Stream, infos []segment.Info, origin, end segment.Point) (low segment.Point, spans []segment.Span) {
	low = end
	if whole, err := segment.Tile(st, infos, origin, end); err == nil {
		return origin, whole
	}
	for _, in := range infos {
		if in.From.N >= low.N {
			continue
		}
		if got, err := segment.Tile(st, infos, in.From, end); err == nil && len(got) > 0 {
			low, spans = in.From, got
		}
	}
	return low, spans
}

func (c *cloud) verifyRun(ctx context.Context, st segment.Stream, infos []segment.Info, run run, r *Report) error {
	for at := run.from; at != run.to; {
		n, err := c.readRun(ctx, st, infos, at, run.to, r)
		if err == nil {
			r.Documents += n
			return nil
		}
		d := (*segment.DamageError)(nil)
		if !errors.As(err, &d) {
			return err
		}
		next := run.to
		for _, s := range slices.Backward(run.spans) {
			if s.From.N >= d.To {
				next = s.From
			}
			if s.From.N <= d.From && s.Upto.N > d.From {
				at = s.From
			}
		}
		r.Problems = append(r.Problems, Problem{
			Stream: string(st), From: at.N, To: next.N, Document: d.ID, start: at, end: next, listed: infos,
			Err: fmt.Errorf("%w: %w", remoteread.ErrDamaged, err),
		})
		at = next
	}
	return nil
}

// readRun reads lines and counts them, with the segments that they were in.
func (c *cloud) readRun(ctx context.Context, st segment.Stream, infos []segment.Info, from, to segment.Point, r *Report) (int, error) {
	for line, err := range c.link.Lines(ctx, st, infos, from, to, nil) {
		if err != nil {
			return 0, err
		}
		r.Lines++
		r.Bytes += int64(len(line)) + 1
	}
	spans, err := segment.Tile(st, infos, from, to)
	return len(spans), err
}

// mendMet stores again what is damaged in the cloud and whole here, once, after
// damage kept a sync from its work. It reports whether it stored anything.
func (v *work) mendMet(ctx context.Context) (bool, error) {
	if v.mended || v.barred != nil || v.fetches || !v.local.present || v.cloud.head == nil || v.cloud.head.Deleted {
		return false, nil
	}
	r := Report{}
	err := v.verifyAll(ctx, &r, true)
	v.mended = !errors.Is(err, errLost)
	if r.Mended > 0 {
		v.Log.Warn("damage in the cloud mended", "session", v.id)
	}
	return r.Mended > 0, err
}

// Check reads everything that the cloud has of a session, and checks every hash. With
// mend it stores again what is missing or damaged and what this device has, if the rules
// let it.
func (e *Syncer) Check(ctx context.Context, id string, mend bool) (r Report, err error) {
	err = e.again(ctx, func() error {
		r, err = e.check(ctx, id, mend)
		return err
	})
	return r, err
}

func (e *Syncer) check(ctx context.Context, id string, mend bool) (r Report, err error) {
	v, leave, err := e.examine(ctx, id)
	if err != nil {
		return r, err
	}
	defer leave()
	if v.cloud.head.Deleted {
		return r, ErrRemoved
	}
	if mend {
		if err := v.mayStore(ctx); err != nil {
			return r, err
		}
	}
	err = v.verifyAll(ctx, &r, mend)
	if len(v.cloud.left.ids) == 0 && (err != nil || len(r.Problems) == 0) {
		return r, err
	}
	if now := v.readHead(ctx); now != nil {
		return r, errors.Join(err, now)
	}
	if v.cloud.head != nil && v.cloud.head.Deleted { // meanwhile
		err = ErrRemoved
	}
	return r, err
}
