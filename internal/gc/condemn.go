package gc

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/remote"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// maxNames is how many names a document condemns, so that it fits into one request.
const maxNames = 5000

// swap makes next the head, in one request with what it leads to, which comes before it, or
// with the removal of what it no longer leads to, which comes after. The error Is
// [cosmos.ErrLost] when the head is not the one that was read.
func (p *pruner) swap(ctx context.Context, next *head.Head, with ...cosmos.Op) error {
	next.Fence = p.s.Random.Name(8)
	doc, err := next.Encode()
	if err != nil {
		return err
	}
	ops, at := cosmos.Around(cosmos.Swap(doc.ID, doc.Body, p.s.Head.ETag), with)
	a := p.s.Reader.Batch(ctx, p.pk(), ops...)
	if a.Class != cosmos.OK {
		return a.Lost()
	}
	p.head, p.s.Head = next, remote.Known{ETag: a.ETag(at), Token: p.s.Reader.Token(), Doc: doc.Body}
	return nil
}

// condemn makes a head that does not count some histories, and that condemns documents.
func (p *pruner) condemn(ctx context.Context, over []head.History, names []string) error {
	g := head.Gone{ID: segment.GoneID(p.s.SID, p.s.Random.Name(8)), Names: names}
	doc, err := g.Encode(p.s.SID)
	if err != nil {
		return err
	}
	next := p.head.Clone()
	next.Gone = append(next.Gone, g.ID)
	for i := range over {
		next.Histories.Drop(&over[i])
	}
	return p.swap(ctx, next, cosmos.Put(doc.Body))
}

// finish removes what the head condemns, and makes one that condemns nothing.
func (p *pruner) finish(ctx context.Context) error {
	for len(p.head.Gone) > 0 {
		id := p.head.Gone[0]
		g, err := p.s.Reader.Gone(ctx, p.s.SID, id)
		if err == nil && g == nil {
			err = fmt.Errorf("%w: what its head condemns is not there", remote.ErrDamaged)
		}
		if err != nil {
			return err
		}
		if err := p.discard(ctx, g.Names); err != nil {
			return err
		}
		next := p.head.Clone()
		next.Gone = slices.Delete(next.Gone, 0, 1)
		if err := p.swap(ctx, next, cosmos.Delete(id, "")); err != nil {
			return err
		}
	}
	return nil
}

// discard removes documents of the session.
func (p *pruner) discard(ctx context.Context, ids []string) error {
	if err := cosmos.Discard(ctx, p.s.Reader, p.pk(), ids); err != nil {
		return fmt.Errorf("remove documents: %w", err)
	}
	return nil
}

// Finish removes what the head of a session condemns. Where another device changes the head
// meanwhile, the rest is for the next Finish or Prune.
func Finish(ctx context.Context, s *Session) error {
	p := &pruner{s: s}
	if err := p.readHead(ctx); err != nil || p.head == nil {
		return err
	}
	err := p.finish(ctx)
	if p.outdated(ctx, err) || errors.Is(err, cosmos.ErrLost) {
		return nil
	}
	return err
}
