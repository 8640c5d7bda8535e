package hybrid

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// Segments are merged when many small ones stand in a row: that costs little
// for each line, however often it is done, and leaves a document that is still
// read at once.
const mergeFrom = 8 // segments

// smallOf returns from how many bytes of lines on a segment stays as it is, and
// how many one has that others are merged to. Event logs are stored as
// differences: a tenth of them, and less.
func smallOf(st segment.Stream) (small, merged int64) {
	if st.Kind() == segment.KindEvents {
		return 1 << 20, 4 << 20
	}
	return 128 << 10, 512 << 10
}

// compact makes larger segments out of runs of small ones. These stay until
// they are collected: readers may be on their way to them.
func (u *keeper) compact(ctx context.Context, s *stock) error {
	streams := map[segment.Stream]segment.Point{segment.Transcript: u.tip.Transcript.Point()}
	for st, r := range u.tip.Logs {
		streams[st] = r.Point()
	}
	var damage error
	for _, st := range slices.Sorted(maps.Keys(streams)) {
		spans, err := s.spans(st, streams[st])
		if err != nil {
			continue // collect tells
		}
		for _, run := range smallRuns(st, spans) {
			if err := u.merge(ctx, s, st, run); errors.Is(err, ErrDamaged) {
				damage = errors.Join(damage, err)
			} else if err != nil {
				return fmt.Errorf("merge segments: %w", err)
			}
		}
	}
	return damage
}

// smallRuns finds the segments that are worth to be merged.
func smallRuns(st segment.Stream, spans []segment.Span) (runs [][]segment.Info) {
	small, merged := smallOf(st)
	var run []segment.Info
	bytes := int64(0)
	end := func() {
		if len(run) >= mergeFrom {
			runs = append(runs, run)
		}
		run, bytes = nil, 0
	}
	for _, sp := range spans {
		if sp.Upto != sp.To || sp.Bytes >= small {
			end()
			continue
		}
		if len(run) > 0 && (run[0].PK != sp.PK || bytes+sp.Bytes > merged) {
			end()
		}
		run, bytes = append(run, sp.Info), bytes+sp.Bytes
	}
	end()
	return runs
}

// merge stores one segment for several, once it is known that it gives the
// same lines. When it is too large, it becomes two.
func (u *keeper) merge(ctx context.Context, s *stock, st segment.Stream, run []segment.Info) error {
	if u.options.Plan {
		u.sum.Merged, u.sum.Segments = u.sum.Merged+len(run), u.sum.Segments+1
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	f := &fetcher{ctx: ctx, link: u.link, order: run, begun: map[string]chan fetched{}}
	defer f.work.Wait()
	defer cancel()
	parts := make([]*segment.Segment, 0, len(run))
	for _, in := range run {
		body, err := f.Segment(in)
		if errors.Is(err, segment.ErrMissing) {
			return errLost // somebody removed it, under another tip
		}
		if err != nil {
			return err
		}
		part, err := segment.DecodeSegment(body)
		if err != nil {
			return damaged(err)
		}
		parts = append(parts, part)
	}
	return u.mergeParts(ctx, s, st, parts)
}

func (u *keeper) mergeParts(ctx context.Context, s *stock, st segment.Stream, parts []*segment.Segment) error {
	if len(parts) < 2 {
		return nil
	}
	doc, err := segment.Merge(parts)
	if errors.Is(err, segment.ErrTooLarge) {
		half := len(parts) / 2
		if err := u.mergeParts(ctx, s, st, parts[:half]); err != nil {
			return err
		}
		return u.mergeParts(ctx, s, st, parts[half:])
	}
	if err != nil {
		return err
	}
	info, err := segment.DecodeInfo(doc.Body)
	if err != nil {
		return err
	}
	if err := u.proves(ctx, s, st, info, doc.Body); err != nil {
		return err
	}
	if _, err := u.under(ctx, doc.PK, []step{{id: doc.ID, body: doc.Body}}); err != nil {
		return err
	}
	u.sum.Merged, u.sum.Segments = u.sum.Merged+len(parts), u.sum.Segments+1
	s.segments[st] = append(s.segments[st], info)
	s.written[info.ID] = u.link.serverTime()
	return nil
}

// proves reads the lines of a segment before it is stored, and checks all
// hashes: a damaged one must not take the place of others.
func (u *keeper) proves(ctx context.Context, s *stock, st segment.Stream, in segment.Info, body []byte) error {
	f := &fetcher{ctx: ctx, link: u.link}
	infos := []segment.Info{in}
	for _, other := range append(s.segments[st][:len(s.segments[st]):len(s.segments[st])], s.past...) { // to which differences may lead, but none that holds the last line too
		if other.From.N < in.From.N && other.To.N < in.To.N {
			infos = append(infos, other)
		}
	}
	for _, err := range segment.Lines(overlay{f, in.ID, body}, st, infos, in.From, in.To, nil) {
		if err != nil {
			return damaged(err)
		}
	}
	return nil
}

// overlay is a source with one segment more than the cloud has.
type overlay struct {
	*fetcher
	id   string
	body []byte
}

// Segment implements [segment.Source].
func (o overlay) Segment(in segment.Info) ([]byte, error) {
	if in.ID == o.id {
		return o.body, nil
	}
	return o.fetcher.Segment(in)
}
