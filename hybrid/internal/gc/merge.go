package gc

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

// MinRun is the least number of consecutive small segments that are merged. Merging them
// costs little for each line, however often it is done, and leaves a document that is
// still read at once.
const MinRun = 8

// maxTail is the largest size in bytes of the document with the last lines of a stream
// after a merge.
const maxTail = 128 << 10

// sizes returns the limit below which a segment is small, and the largest size of a
// merged one, in bytes of lines. Event logs are stored as differences: a tenth of them,
// and less.
func sizes(st segment.Stream) (small, merged int64) {
	if st.Kind() == segment.KindEvents {
		return 1 << 20, 4 << 20
	}
	return 128 << 10, 512 << 10
}

// merge makes larger segments out of runs of small ones. The small ones become
// garbage, and stay for the grace time: readers may be on their way to them.
func (p *pruner) merge(ctx context.Context, i *inventory) error {
	streams := map[segment.Stream]head.Extent{segment.Transcript: p.head.Transcript}
	maps.Copy(streams, p.head.Logs)
	var damage error
	for _, st := range slices.Sorted(maps.Keys(streams)) {
		spans, err := segment.Tile(st, i.segments[st], segment.Origin(st), streams[st].Point())
		if err != nil {
			continue // collect reports it
		}
		for _, run := range toMerge(st, spans, streams[st].Bytes) {
			if err := p.mergeRun(ctx, i, run); errors.Is(err, remoteread.ErrDamaged) {
				damage = errors.Join(damage, err)
			} else if err != nil {
				return fmt.Errorf("merge segments: %w", err)
			}
		}
	}
	return damage
}

// toMerge returns the segments of a stream of so many bytes to merge, each group to one.
func toMerge(st segment.Stream, spans []segment.Span, bytes int64) (groups [][]segment.Info) {
	for _, run := range smallRuns(st, spans) {
		groups = append(groups, bounded(run, bytes)...)
	}
	return groups
}

// bounded cuts a run into groups. The document of a group is at most as large as the
// lines behind it, or as maxTail. So a device that lacks the last lines of a stream
// reads little more than these, wherever its lines end.
func bounded(run []segment.Info, bytes int64) (groups [][]segment.Info) {
	for len(run) > 0 {
		i := len(run) - 1
		limit := max(maxTail, bytes-run[i].Offset-run[i].Bytes)
		for left := limit - run[i].UpperBound(); i > 0 && left >= run[i-1].UpperBound(); i-- {
			left -= run[i-1].UpperBound()
		}
		if len(run)-i > 1 {
			groups = append(groups, run[i:])
		}
		run = run[:i]
	}
	slices.Reverse(groups)
	return groups
}

// smallRuns finds the runs of segments that are worth merging.
func smallRuns(st segment.Stream, spans []segment.Span) (runs [][]segment.Info) {
	small, merged := sizes(st)
	var run []segment.Info
	bytes := int64(0)
	end := func() {
		if len(run) >= MinRun {
			runs = append(runs, run)
		}
		run, bytes = nil, 0
	}
	for _, sp := range spans {
		if sp.Upto != sp.To || sp.Bytes >= small {
			end()
			continue
		}
		if len(run) > 0 && (bytes+sp.Bytes > merged) {
			end()
		}
		run, bytes = append(run, sp.Info), bytes+sp.Bytes
	}
	end()
	return runs
}

// mergeRun reads segments and stores one in their place.
func (p *pruner) mergeRun(ctx context.Context, i *inventory, run []segment.Info) error {
	if p.o.Plan {
		p.sum.Merged, p.sum.Segments = p.sum.Merged+len(run), p.sum.Segments+1
		return nil
	}
	src := p.s.Reader.Source(ctx, run)
	defer src.Close()
	parts := make([]*segment.Segment, 0, len(run))
	for _, in := range run {
		doc, err := src.Segment(in)
		if errors.Is(err, segment.ErrMissing) {
			return remoteread.ErrLost // another device removed it, under another head
		}
		if err != nil {
			return err
		}
		part, err := segment.DecodeSegment(doc)
		if err != nil {
			return remoteread.Damaged(err)
		}
		parts = append(parts, part)
	}
	return p.mergeParts(ctx, i, parts)
}

// mergeParts stores one segment in the place of several, or two where one would be too
// large.
func (p *pruner) mergeParts(ctx context.Context, i *inventory, parts []*segment.Segment) error {
	if len(parts) < 2 {
		return nil
	}
	doc, err := segment.Merge(parts, p.s.Random.Name(8))
	if errors.Is(err, segment.ErrTooLarge) {
		half := len(parts) / 2
		if err := p.mergeParts(ctx, i, parts[:half]); err != nil {
			return err
		}
		return p.mergeParts(ctx, i, parts[half:])
	}
	if err != nil {
		return err
	}
	info, err := segment.DecodeInfo(doc.PK, doc.ID, doc.Label)
	if err != nil {
		return err
	}
	if err := p.prove(ctx, i, info, doc); err != nil {
		return err
	}
	if err := p.swap(ctx, p.head.Clone(), []segment.Document{doc}); err != nil {
		return err
	}
	p.sum.Merged, p.sum.Segments = p.sum.Merged+len(parts), p.sum.Segments+1
	i.add(info, p.s.Reader.Time())
	return nil
}

// prove reads the lines of a segment that is not stored yet, and checks all hashes: a
// damaged segment must not replace others.
func (p *pruner) prove(ctx context.Context, i *inventory, in segment.Info, doc segment.Document) error {
	infos := []segment.Info{in}
	for _, other := range i.segments[in.Stream] { // differences may lead to them
		if other.From.N < in.From.N && other.To.N < in.To.N { // but it holds not the last line too
			infos = append(infos, other)
		}
	}
	src := p.s.Reader.Source(ctx, nil)
	defer src.Close()
	for _, err := range segment.Lines(overlay{src, doc}, in.Stream, infos, in.From, in.To, nil) {
		if err != nil {
			return remoteread.Damaged(err)
		}
	}
	return nil
}

// overlay is a source with one additional segment.
type overlay struct {
	*remoteread.Source
	doc segment.Document
}

// Segment implements [segment.Source].
func (o overlay) Segment(in segment.Info) (segment.Document, error) {
	if in.ID == o.doc.ID {
		return o.doc, nil
	}
	return o.Source.Segment(in)
}
