package resync

import (
	"context"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/head"
)

// commit stores what waits, and makes the next head the session's.
func (s *session) commit(ctx context.Context) error {
	if err := s.out.flush(ctx); err != nil {
		return err
	}
	s.next.Revision++
	s.next.Anew.Rules = s.Rules.Version()
	if s.changed {
		s.next.Anew.Next(head.End{Was: s.was.Transcript.Point(), Now: s.next.Transcript.Point()})
	}
	s.next.Op, s.next.Writer = s.Writer.Device+"-"+s.Random.Name(6), s.Writer
	doc, err := s.next.Encode()
	if err != nil {
		return err
	}
	if s.cost != nil {
		s.cost.Requests++
		s.cost.store(doc.Body, true)
		s.m.Head = s.next
		return nil
	}
	a := s.Reader.Batch(ctx, doc.PK, cosmos.Swap(doc.ID, doc.Body, s.m.ETag))
	if err := a.Lost(); err != nil {
		return err
	}
	s.m.Head, s.m.ETag = s.next, a.ETag(0)
	return nil
}
