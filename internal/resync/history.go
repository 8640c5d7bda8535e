package resync

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/remote"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// histories are those of one stream of a session. Of each line it is known where it is
// now, once it was written anew: 200 bytes of memory for a line.
type histories struct {
	*session
	stream segment.Stream
	infos  []segment.Info                 // of the former lines
	at     map[segment.Point]segment.Mark // where lines end now, by where they ended
	starts []segment.Point                // from which histories are read
	cuts   []segment.Point                // where new segments begin, and histories end now
}

func (s *session) histories(st segment.Stream, infos []segment.Info) *histories {
	origin := segment.Origin(st)
	return &histories{
		session: s, stream: st, infos: infos,
		at: map[segment.Point]segment.Mark{origin: segment.Begin(st)}, starts: []segment.Point{origin},
	}
}

// all writes histories anew, the longest first: shorter ones are mostly parts of it.
func (h *histories) all(ctx context.Context, ends []segment.Point) error {
	ends = slices.Clone(ends)
	slices.SortStableFunc(ends, func(a, b segment.Point) int { return int(b.N - a.N) })
	for _, p := range ends {
		now, err := h.write(ctx, p)
		if err != nil {
			return fmt.Errorf("write stream %s anew: %w", h.stream, err)
		}
		h.cuts = append(h.cuts, now.Point())
	}
	if h.cost != nil {
		h.keepEnding()
	}
	return nil
}

// keepEnding notes that segments stay that end at a place where segments of these
// histories begin or end now, as a sweep lets them stay; others may hold the same lines.
func (h *histories) keepEnding() {
	at := map[segment.Point]bool{}
	for _, p := range h.cuts {
		at[p] = true
	}
	for _, in := range slices.SortedFunc(slices.Values(h.infos), func(a, b segment.Info) int { return int(b.To.N - a.To.N) }) {
		if at[in.To] {
			at[in.From] = true
			h.kept[in.ID] = true
		}
	}
}

// write writes the history that ends at p anew, as far as that was not done, and returns
// where it ends now.
func (h *histories) write(ctx context.Context, p segment.Point) (segment.Mark, error) {
	if now, ok := h.at[p]; ok {
		return now, nil
	}
	from, spans, err := h.way(p)
	if err != nil {
		return segment.Mark{}, err
	}
	start, rest, err := h.same(ctx, from, p, spans)
	if err != nil {
		return segment.Mark{}, err
	}
	if start != p {
		size := int64(0)
		for _, sp := range rest {
			size += sp.Bytes
		}
		c := segment.NewCutter(segment.Options{SID: h.sid, Cap: h.cap, Size: size}, segment.From{Stream: h.stream, Mark: h.at[start]})
		h.cuts = append(h.cuts, h.at[start].Point())
		if err := h.out.take(ctx, c.Documents(h.lines(ctx, start, p))); err != nil {
			return segment.Mark{}, err
		}
	}
	h.starts = append(h.starts, p)
	return h.at[p], nil
}

// way returns the last place that is known on the history that ends at p, and the
// segments behind it.
func (h *histories) way(p segment.Point) (from segment.Point, spans []segment.Span, err error) {
	slices.SortStableFunc(h.starts, func(a, b segment.Point) int { return int(b.N - a.N) })
	for _, q := range h.starts {
		if q.N >= p.N {
			continue
		}
		if spans, err = segment.Tile(h.stream, h.infos, q, p); err == nil {
			return q, spans, nil
		}
		if !errors.Is(err, segment.ErrOffside) && !errors.Is(err, segment.ErrGap) {
			break
		}
	}
	return from, nil, remote.Damaged(err)
}

// same goes through lines as long as no rule changes any and whole segments hold them, or
// they were written anew before. It returns where that ends, and the segments behind.
func (h *histories) same(ctx context.Context, from, to segment.Point, spans []segment.Span) (start segment.Point, rest []segment.Span, err error) {
	start, old := from, from
	t := segment.NewTracker(h.stream, nil, []segment.Mark{h.at[from]})
	var fresh []segment.Mark // of lines behind start, which are the same as before
	i := 0
	for line, err := range h.Reader.Lines(ctx, h.stream, h.infos, from, to, nil) {
		if err != nil {
			return start, nil, err
		}
		old = old.Add(line)
		now, known := h.at[old]
		if known {
			t = segment.NewTracker(h.stream, nil, []segment.Mark{now})
			start, fresh = old, nil
		} else {
			t.Add(line, h.Rules.Line(line))
			if t.Mark().Point() != old {
				return start, spans[i:], nil
			}
			fresh = append(fresh, t.Mark())
		}
		for i < len(spans) && spans[i].Upto == old {
			stays := spans[i].To == old && t.Mark().Point() == old
			if !known && !stays {
				return start, spans[i:], nil
			}
			if stays {
				h.kept[spans[i].ID] = true
			}
			for _, m := range fresh {
				h.at[m.Point()] = m
			}
			start, fresh = old, nil
			i++
		}
	}
	return start, spans[i:], nil
}

// lines yields the lines between two places as the rules let them be, and notes where
// each ends now. The first place is known.
func (h *histories) lines(ctx context.Context, from, to segment.Point) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		old := from
		t := segment.NewTracker(h.stream, nil, []segment.Mark{h.at[from]})
		for line, err := range h.Reader.Lines(ctx, h.stream, h.infos, from, to, nil) {
			if err != nil {
				yield(nil, err)
				return
			}
			now := h.Rules.Line(line)
			old = old.Add(line)
			t.Add(line, now)
			h.at[old] = t.Mark()
			if !yield(now, nil) {
				return
			}
		}
	}
}
