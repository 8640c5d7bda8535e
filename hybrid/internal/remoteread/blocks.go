package remoteread

import (
	"context"
	"iter"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

// Blocks yields a block for each message of the transcript of the session whose head
// is t. They come from the indexes of the segments; where one is damaged, from the lines.
// An error is the last thing it yields; of damage it Is [ErrDamaged].
func (r *Reader) Blocks(ctx context.Context, t *head.Head) iter.Seq2[segment.Block, error] {
	return func(yield func(segment.Block, error) bool) {
		infos, err := r.Segments(ctx, t, segment.Transcript, 0)
		if err != nil {
			yield(segment.Block{}, err)
			return
		}
		spans, err := segment.Tile(segment.Transcript, infos, segment.Origin(segment.Transcript), t.Transcript.Point())
		if err != nil {
			yield(segment.Block{}, Damaged(err))
			return
		}
		for i := range spans {
			blocks, err := r.blocks(ctx, &spans[i])
			if err != nil {
				yield(segment.Block{}, err)
				return
			}
			for _, b := range blocks {
				if !yield(b, nil) {
					return
				}
			}
		}
	}
}

// blocks returns the blocks of a span.
func (r *Reader) blocks(ctx context.Context, s *segment.Span) ([]segment.Block, error) {
	blocks, ok := s.Blocks()
	if ok {
		return blocks, nil
	}
	for line, err := range r.Lines(ctx, segment.Transcript, []segment.Info{s.Info}, s.From, s.Upto, nil) {
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, segment.BlockOf(line))
	}
	return blocks, nil
}
