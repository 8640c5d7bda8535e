package hybrid

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/tip"
)

// Report is what [Store.Verify] and [Store.Repair] found in the cloud.
type Report struct {
	SessionID string    `json:"session_id"`
	Lines     int64     `json:"lines"` // read, with the right hashes
	Bytes     int64     `json:"bytes"`
	Documents int       `json:"documents"` // segments that the lines were read from
	Problems  []Problem `json:"problems"`
	Mended    int       `json:"mended"` // problems that Repair removed
}

// Problem is lines or a file that cannot be read from the cloud.
type Problem struct {
	Stream   string `json:"stream"`             // "t" is the transcript; empty for a file
	File     string `json:"file,omitempty"`     // of a file
	From     int64  `json:"from"`               // lines From up to To, without To
	To       int64  `json:"to"`                 //
	Document string `json:"document,omitempty"` // that is damaged; empty when it is missing
	Mended   bool   `json:"mended"`             // Repair stored it again
	Err      error  `json:"-"`                  // Is ErrDamaged

	start, end segment.Point
}

// Verify reads everything that the cloud has of a session's main line, logs
// and files, and checks every hash. The error Is [ErrDamaged] when there are
// problems; the report names them.
func (s *Store) Verify(ctx context.Context, id string) (Report, error) {
	return s.verify(ctx, "verify", id, false)
}

// Repair verifies, and stores again what is missing or damaged and what this
// device has. The error Is [ErrDamaged] when problems remain: another device
// may have those lines.
func (s *Store) Repair(ctx context.Context, id string) (Report, error) {
	return s.verify(ctx, "repair", id, true)
}

func (s *Store) verify(ctx context.Context, op, id string, mend bool) (Report, error) {
	if s.engine == nil {
		return Report{SessionID: id}, wrap(op, id, ErrNoContainer)
	}
	s.engine.budget.reopen()
	v, leave, err := s.engine.examine(ctx, id)
	if err != nil {
		return Report{SessionID: id}, wrap(op, id, err)
	}
	defer leave()
	r := Report{SessionID: id}
	if v.tip.Deleted {
		return r, wrap(op, id, ErrDeleted)
	}
	if err := v.verifyAll(ctx, &r, mend); err != nil {
		return r, wrap(op, id, err)
	}
	if left := len(r.Problems) - r.Mended; left > 0 {
		return r, wrap(op, id, fmt.Errorf("%w: %d of %d problems remain", ErrDamaged, left, len(r.Problems)))
	}
	return r, nil
}

func (v *visit) verifyAll(ctx context.Context, r *Report, mend bool) error {
	if err := v.verifyStream(ctx, segment.Transcript, v.tip.Transcript, r); err != nil {
		return err
	}
	for _, st := range slices.Sorted(maps.Keys(v.tip.Logs)) {
		if err := v.verifyStream(ctx, st, v.tip.Logs[st], r); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.tip.Files)) {
		if _, err := v.unpack(ctx, v.tip.Files[name]); err != nil {
			if !errors.Is(err, ErrDamaged) {
				return err
			}
			r.Problems = append(r.Problems, Problem{File: name, Err: err})
		}
	}
	if !mend {
		return nil
	}
	for i := range r.Problems {
		p := &r.Problems[i]
		ok, err := v.mend(ctx, p)
		if err != nil {
			return fmt.Errorf("store again: %w", err)
		}
		if p.Mended = ok; ok {
			r.Mended++
		}
	}
	return nil
}

// verifyStream reads a stream from its beginning, and goes on behind what it
// cannot read.
func (v *visit) verifyStream(ctx context.Context, st segment.Stream, reach tip.Reach, r *Report) error {
	infos, err := v.link.segments(ctx, v.tip, st, reach.Buckets, 0)
	if err != nil {
		return err
	}
	for _, run := range runs(st, infos, reach.Point()) {
		if run.missing {
			r.Problems = append(r.Problems, Problem{
				Stream: string(st), From: run.from.N, To: run.to.N, start: run.from, end: run.to,
				Err: fmt.Errorf("%w: no segment", ErrDamaged),
			})
			continue
		}
		if err := v.verifyRun(ctx, st, infos, run, r); err != nil {
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

// runs takes a stream apart at its gaps, in ascending order.
func runs(st segment.Stream, infos []segment.Info, tip segment.Point) (all []run) {
	origin := segment.Origin(st)
	for at := tip; at.N > 0; {
		low, spans := lowest(st, infos, at)
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
func lowest(st segment.Stream, infos []segment.Info, tip segment.Point) (low segment.Point, spans []segment.Span) {
	low = tip
	if whole, err := segment.Tile(st, infos, segment.Origin(st), tip); err == nil {
		return segment.Origin(st), whole
	}
	for _, in := range infos {
		if in.From.N >= low.N {
			continue
		}
		if got, err := segment.Tile(st, infos, in.From, tip); err == nil && len(got) > 0 {
			low, spans = in.From, got
		}
	}
	return low, spans
}

func (v *visit) verifyRun(ctx context.Context, st segment.Stream, infos []segment.Info, run run, r *Report) error {
	for at := run.from; at != run.to; {
		n, err := v.readRun(ctx, st, infos, at, run.to, r)
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
			Stream: string(st), From: at.N, To: next.N, Document: d.ID, start: at, end: next,
			Err: fmt.Errorf("%w: %w", ErrDamaged, err),
		})
		at = next
	}
	return nil
}

// readRun reads lines and counts them, with the segments that they were in.
func (v *visit) readRun(ctx context.Context, st segment.Stream, infos []segment.Info, from, to segment.Point, r *Report) (int, error) {
	for line, err := range v.link.lines(ctx, st, infos, from, to, nil) {
		if err != nil {
			return 0, err
		}
		r.Lines++
		r.Bytes += int64(len(line)) + 1
	}
	spans, err := segment.Tile(st, infos, from, to)
	return len(spans), err
}
