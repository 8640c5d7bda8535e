package resync

import (
	"context"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// writeTranscript writes all histories of the transcript anew.
func (s *session) writeTranscript(ctx context.Context) error {
	ends := []segment.Point{s.was.Transcript.Point()}
	for _, o := range s.former {
		ends = append(ends, o.Point)
	}
	for _, b := range s.branches {
		ends = append(ends, b.Transcript.Point())
	}
	for _, b := range s.listed {
		ends = append(ends, b.Tip)
	}
	for _, m := range s.members {
		if f := m.Head.From; f != nil && f.SID == s.sid && !m.Head.Deleted {
			ends = append(ends, f.Point)
		}
	}
	infos, err := s.Reader.Segments(ctx, s.was, segment.Transcript, 0)
	if err != nil {
		return err
	}
	h := s.histories(segment.Transcript, infos)
	if err := s.begin(ctx, h, ends); err != nil {
		return err
	}
	if err := h.all(ctx, ends); err != nil {
		return err
	}
	s.next.Transcript = s.extent(h, s.was.Transcript.Point())
	s.next.Old, s.next.OldMore, s.next.Branches, s.next.BranchMore = nil, nil, nil, nil
	for i, o := range s.former {
		e := s.extent(h, o.Point)
		s.former[i].Point, s.former[i].Bytes, s.former[i].Rules = e.Point(), e.Bytes, e.Rules
	}
	for i, b := range s.listed {
		now := h.at[b.Tip].Point()
		s.listed[i].ID, s.listed[i].Tip = segment.BranchID(s.sid, now), now
	}
	for i, b := range s.branches {
		s.branches[i] = b.Clone()
		s.branches[i].Transcript = s.extent(h, b.Transcript.Point())
		s.branches[i].From, s.branches[i].Logs = s.next.From, nil
	}
	return nil
}

// extent returns how far a history is stored now that ended at p.
func (s *session) extent(h *histories, p segment.Point) head.Extent {
	now := h.at[p]
	s.changed = s.changed || now.Point() != p
	e := head.ExtentOf(now).Ruled(nil, 0, s.Rules.Version())
	if p.N == 0 {
		e = head.Extent{Hash: p.Hash}
	}
	return e
}

// begin finds out where the lines end now that a fork has of its parent.
func (s *session) begin(ctx context.Context, h *histories, ends []segment.Point) error {
	f := s.was.From
	if f == nil || f.N == 0 {
		return nil
	}
	now, done := s.ends[place{f.SID, segment.Transcript, f.Point}]
	if !done || !h.behind(f.Point, ends) {
		for _, err := range h.lines(ctx, segment.Origin(segment.Transcript), f.Point) {
			if err != nil {
				return fmt.Errorf("lines of the parent: %w", err)
			}
		}
	}
	if !done {
		now = h.at[f.Point]
		has, err := s.parentHas(ctx, f.SID, now.Point())
		if err != nil {
			return err
		}
		if !has {
			// It gets all lines itself. Its logs may go on to begin with the parent's.
			s.next.From = &head.From{SID: f.SID, Point: segment.Origin(segment.Transcript)}
			h.forget()
			return nil
		}
	}
	from := *f
	from.Point, from.Bytes = now.Point(), now.Bytes
	s.next.From = &from
	h.know(f.Point, now)
	return nil
}

// parentHas reports whether the parent leads to the lines up to a place.
func (s *session) parentHas(ctx context.Context, sid string, p segment.Point) (bool, error) {
	m := s.members[sid]
	if m == nil || m.Head.Deleted {
		return false, nil
	}
	infos, err := s.Reader.Segments(ctx, m.Head, segment.Transcript, 0)
	if err != nil {
		return false, err
	}
	_, err = segment.Tile(segment.Transcript, infos, segment.Origin(segment.Transcript), p)
	return err == nil, nil
}
