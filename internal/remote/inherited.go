package remote

import (
	"context"
	"fmt"
	"iter"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// LogLines yields all lines of a log. Those of a fork begin with lines of the
// session that it was forked from, unless its own segments hold these too, as after
// a repair.
func (r *Reader) LogLines(ctx context.Context, t *head.Head, st segment.Stream, extent head.Extent) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		infos, err := r.Segments(ctx, t, st, 0)
		if err != nil {
			yield(nil, err)
			return
		}
		from := segment.Origin(st)
		if _, err := segment.Tile(st, infos, from, extent.Point()); err != nil && extent.From != nil {
			from = extent.From.Point
			for line, err := range r.Inherited(ctx, extent.From) {
				if !yield(line, err) || err != nil {
					return
				}
			}
		}
		for line, err := range r.Lines(ctx, st, infos, from, extent.Point(), nil) {
			if !yield(line, err) {
				return
			}
		}
	}
}

// Inherited yields the lines that a fork's log begins with. That they are what they
// were is known when the last one came: else there is an error behind it.
func (r *Reader) Inherited(ctx context.Context, f *head.Inherited) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		at := segment.Origin(f.Stream)
		of := head.Extent{N: f.To.N, Hash: f.To.Hash, From: f.From}
		for line, err := range r.LogLines(ctx, &head.Head{SID: f.SID}, f.Stream, of) {
			if err != nil {
				yield(nil, err)
				return
			}
			line = f.Line(line)
			at = at.Add(line)
			if !yield(line, nil) {
				return
			}
		}
		if at != f.Point {
			yield(nil, fmt.Errorf("%w: the beginning of a fork's log is another one", ErrDamaged))
		}
	}
}

// Inherits reports whether p is among the lines that a fork's log begins with.
func (r *Reader) Inherits(ctx context.Context, f *head.Inherited, p segment.Point) (bool, error) {
	at := segment.Origin(f.Stream)
	for line, err := range r.Inherited(ctx, f) {
		if err != nil {
			return false, err
		}
		if at = at.Add(line); at.N == p.N {
			return at == p, nil
		}
	}
	return false, nil
}
