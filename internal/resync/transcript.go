package resync

import (
	"context"

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
	infos, err := s.Reader.Segments(ctx, s.was, segment.Transcript, 0)
	if err != nil {
		return err
	}
	h := s.histories(segment.Transcript, infos)
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
		s.branches[i].Logs = nil
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
