package remoteread

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// Segments lists the segments of a stream of the session with the head t, behind record
// from, without those that the head condemns.
func (r *Reader) Segments(ctx context.Context, t *head.Head, st segment.Stream, from int64) (infos []segment.Info, err error) {
	pk := segment.SessionPK(t.SID)
	condemned, err := r.Condemned(ctx, t)
	if err != nil {
		return nil, err
	}
	q := remote.Query{Prefix: segment.SegmentPrefix(t.SID, st), After: segment.SegmentsAfter(t.SID, st, from)}
	for o, err := range r.List(ctx, pk, q) {
		if err != nil {
			return nil, fmt.Errorf("list segments: %w", err)
		}
		info, err := segment.DecodeInfo(pk, o.Name, o.Label)
		switch {
		case errors.Is(err, segment.ErrFormat):
			return nil, fmt.Errorf("list segments: %w", err)
		case err != nil: // of another tool, or damaged: others may hold its lines
			continue
		}
		if info.Stream == st && !condemned[info.ID] {
			infos = append(infos, info)
		}
	}
	return infos, nil
}

// Condemned returns the ids of the documents that the head t condemns: whether they are
// removed already or not, they are no part of the session. It is called before documents
// are listed: if a device removes them all, and then the document that condemned them, in
// between, they are not in the list. Where the document that condemns them is damaged,
// they count as others do.
func (r *Reader) Condemned(ctx context.Context, t *head.Head) (map[string]bool, error) {
	condemned := map[string]bool{}
	for _, id := range t.Gone {
		g, err := r.Gone(ctx, t.SID, id)
		if errors.Is(err, ErrDamaged) || err == nil && g == nil {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, name := range g.Names {
			condemned[name] = true
		}
	}
	return condemned, nil
}

// Gone reads a document with condemned names that a head of session sid leads to; it returns
// nil where there is none.
func (r *Reader) Gone(ctx context.Context, sid, id string) (*head.Gone, error) {
	doc, err := r.Get(ctx, segment.SessionPK(sid), id, "")
	if err != nil || doc == nil {
		return nil, err
	}
	g, err := head.DecodeGone(id, doc.Body)
	if err != nil {
		return nil, fmt.Errorf("read condemned names: %w", Damaged(err))
	}
	return &g, nil
}

// Blocks yields a block for each message of the transcript of the session whose head is
// t. They come from the indexes of the segments; where one is damaged, from the lines. An
// error is the last thing it yields; for damage it Is [ErrDamaged].
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
