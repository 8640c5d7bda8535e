package resync

import (
	"context"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/gc"
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// commit stores what waits, and makes the next head the session's.
func (s *session) commit(ctx context.Context) error {
	if err := s.out.flush(ctx); err != nil {
		return err
	}
	if err := s.refer(ctx); err != nil {
		return err
	}
	s.next.Revision++
	s.next.Anew.Rules, s.next.Anew.Open = s.Rules.Version(), true
	if s.changed {
		s.next.Anew.Next(head.End{Was: s.was.Transcript.Point(), Now: s.next.Transcript.Point()})
	}
	s.next.Op, s.next.Writer = s.Writer.Device+"-"+s.Random.Name(6), s.Writer
	doc, err := s.next.Encode()
	if err != nil {
		return err
	}
	return s.swap(ctx, s.m, s.next, doc)
}

// refer tells the parent which lines of it the fork needs, with a new version of the
// parent's head.
func (s *session) refer(ctx context.Context) error {
	f := s.next.From
	if f == nil || *f == *s.was.From || s.members[f.SID] == nil {
		return nil
	}
	parent := s.members[f.SID]
	doc, err := parent.Head.Encode()
	if err != nil {
		return err
	}
	return s.swap(ctx, parent, parent.Head, doc, head.ForkRef(f, s.sid))
}

// swap replaces the head of a session, and stores documents with it.
func (s *session) swap(ctx context.Context, m *gc.Member, t *head.Head, doc segment.Document, with ...segment.Document) error {
	ops := []cosmos.Op{cosmos.Swap(doc.ID, doc.Body, m.ETag)}
	for _, d := range with {
		s.keep(m.SID, d.ID)
		ops = append(ops, cosmos.Put(d.Body))
	}
	if s.cost != nil {
		s.cost.Requests++
		for _, op := range ops {
			s.cost.store(op.Body, true)
		}
		m.Head = t
		return nil
	}
	a := s.Reader.Batch(ctx, doc.PK, ops...)
	if err := a.Lost(); err != nil {
		return err
	}
	m.Head, m.ETag = t, a.ETag(0)
	return nil
}
