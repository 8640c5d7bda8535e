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

// LastLines yields the lines of the last segment of the transcript of the session whose head
// is t, as [Reader.Lines] does.
func (r *Reader) LastLines(ctx context.Context, t *head.Head) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		tip := t.Transcript.Point()
		infos, err := r.Segments(ctx, t, segment.Transcript, max(0, tip.N-1))
		from := tip
		if err == nil {
			from, err = segment.Last(infos, tip)
		}
		if err != nil {
			yield(nil, Damaged(err))
			return
		}
		r.Lines(ctx, segment.Transcript, infos, from, tip, nil)(yield)
	}
}
