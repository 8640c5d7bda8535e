package remote

import (
	"context"
	"iter"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// Blocks yields a block for each message of the transcript of the session whose head
// is t. They come from the indexes of the segments. Only of segments without an
// index, which older versions wrote, are the lines read. An error is the last thing
// it yields; of damage it Is [ErrDamaged].
func (r *Reader) Blocks(ctx context.Context, t *head.Head) iter.Seq2[segment.Block, error] {
	return func(yield func(segment.Block, error) bool) {
		infos, err := r.Segments(ctx, t, segment.Transcript, t.Transcript.Buckets, 0)
		if err != nil {
			yield(segment.Block{}, err)
			return
		}
		spans, err := segment.Tile(segment.Transcript, infos, segment.Origin(segment.Transcript), t.Transcript.Point())
		if err != nil {
			yield(segment.Block{}, Damaged(err))
			return
		}
		for len(spans) > 0 {
			n, blocks := r.first(ctx, infos, spans)
			for b, err := range blocks {
				if !yield(b, err) || err != nil {
					return
				}
			}
			spans = spans[n:]
		}
	}
}

// first returns the blocks of the first span when it has an index, or those of all
// spans before the first one that has, by their lines; and the number of the spans.
func (r *Reader) first(ctx context.Context, infos []segment.Info, spans []segment.Span) (int, iter.Seq2[segment.Block, error]) {
	if blocks, ok := spans[0].Blocks(); ok {
		return 1, func(yield func(segment.Block, error) bool) {
			for _, b := range blocks {
				if !yield(b, nil) {
					return
				}
			}
		}
	}
	n := slices.IndexFunc(spans, func(s segment.Span) bool { _, ok := s.Blocks(); return ok })
	if n < 0 {
		n = len(spans)
	}
	return n, func(yield func(segment.Block, error) bool) {
		for line, err := range r.Lines(ctx, segment.Transcript, infos, spans[0].From, spans[n-1].Upto, nil) {
			if err != nil {
				yield(segment.Block{}, err)
				return
			}
			if !yield(segment.BlockOf(line), nil) {
				return
			}
		}
	}
}
