package resync

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/remote"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// writeLog writes a log anew. A fork's log goes on to begin with lines of its parent's.
func (s *session) writeLog(ctx context.Context, st segment.Stream) error {
	e := s.was.Logs[st]
	infos, err := s.Reader.Segments(ctx, s.was, st, 0)
	if err != nil {
		return err
	}
	h := s.histories(st, infos)
	next := (*head.Inherited)(nil)
	if e.From != nil {
		if _, err := segment.Tile(st, infos, segment.Origin(st), e.Point()); err != nil {
			if next, err = s.inherit(ctx, h, e.From); err != nil {
				return fmt.Errorf("write stream %s anew: %w", st, err)
			}
			if next == nil {
				return s.writeWhole(ctx, h, e)
			}
		}
	}
	ends := []segment.Point{e.Point()}
	for _, m := range s.members {
		for _, l := range m.Head.Logs {
			if l.From != nil && l.From.SID == s.sid && l.From.Stream == st && !m.Head.Deleted {
				ends = append(ends, l.From.To)
			}
		}
	}
	if err := h.all(ctx, ends); err != nil {
		return err
	}
	now := s.extent(h, e.Point())
	now.From = next
	s.next.Logs[st] = now
	return nil
}

// inherit returns what a log has of its parent's log now, and notes where these lines
// end; nil where the lines of the two are not the same any more.
func (s *session) inherit(ctx context.Context, h *histories, f *head.Inherited) (*head.Inherited, error) {
	of := head.Extent{N: f.To.N, Hash: f.To.Hash, From: f.From}
	was, to := segment.Origin(f.Stream), segment.Origin(f.Stream)
	now := segment.NewTracker(h.stream, nil, []segment.Mark{segment.Begin(h.stream)})
	fits := true
	for line, err := range s.Reader.LogLines(ctx, &head.Head{SID: f.SID}, f.Stream, of) {
		if err != nil {
			return nil, err
		}
		theirs := bytes.Clone(s.Rules.Line(line))
		ours := bytes.Clone(f.Line(bytes.Clone(line)))
		was = was.Add(ours)
		ours = s.Rules.Line(ours)
		fits = fits && bytes.Equal(ours, f.Line(bytes.Clone(theirs)))
		to = to.Add(theirs)
		now.Add(ours, nil)
	}
	if was != f.Point {
		return nil, fmt.Errorf("%w: the beginning of a fork's log is another one", remote.ErrDamaged)
	}
	parent := s.members[f.SID]
	if !fits || parent == nil || parent.Head.Deleted {
		return nil, nil
	}
	e, ok := parent.Head.Logs[f.Stream]
	if !ok || e.From != nil && e.From.N > f.N {
		return nil, nil
	}
	if has, err := s.logHas(ctx, parent.Head, f, e, to); err != nil || !has {
		return nil, err
	}
	next := *f
	next.Point, next.To, next.From = now.Mark().Point(), to, e.From
	h.know(f.Point, now.Mark())
	return &next, nil
}

// logHas reports whether the parent's log goes through a place.
func (s *session) logHas(ctx context.Context, parent *head.Head, f *head.Inherited, e head.Extent, to segment.Point) (bool, error) {
	if now, ok := s.ends[place{f.SID, f.Stream, f.To}]; ok {
		return now.Point() == to, nil
	}
	if to == e.Point() {
		return true, nil
	}
	infos, err := s.Reader.Segments(ctx, parent, f.Stream, to.N-1)
	if err != nil {
		return false, err
	}
	_, err = segment.Tile(f.Stream, infos, to, e.Point())
	return err == nil, nil
}

// writeWhole stores all lines of a log, also those that it had of its parent's.
func (s *session) writeWhole(ctx context.Context, h *histories, e head.Extent) error {
	t := segment.NewTracker(h.stream, nil, []segment.Mark{segment.Begin(h.stream)})
	lines := func(yield func([]byte, error) bool) {
		for line, err := range s.Reader.LogLines(ctx, s.was, h.stream, e) {
			if err == nil {
				line = s.Rules.Line(line)
				t.Add(line, nil)
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
	c := segment.NewCutter(segment.Options{SID: s.sid, Cap: s.cap, Size: e.Bytes}, segment.From{Stream: h.stream, Mark: segment.Begin(h.stream)})
	if err := s.out.take(ctx, c.Documents(iter.Seq2[[]byte, error](lines))); err != nil {
		return err
	}
	h.at[e.Point()] = t.Mark()
	s.ends[place{s.sid, h.stream, e.Point()}] = t.Mark()
	s.next.Logs[h.stream] = s.extent(h, e.Point())
	return nil
}
