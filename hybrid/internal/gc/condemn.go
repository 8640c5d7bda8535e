package gc

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

// maxNames is how many names a document condemns, so that it fits into one request.
const maxNames = 5000

// swap makes next the head, after what it leads to was stored, and then removes what it no
// longer leads to. The error Is [remoteread.ErrLost] when the head is not the one that was
// read.
func (p *pruner) swap(ctx context.Context, next *head.Head, with []segment.Document, without ...string) error {
	next.Fence = p.s.Random.Name(8)
	return p.swapAs(ctx, next, with, without)
}

func (p *pruner) swapAs(ctx context.Context, next *head.Head, with []segment.Document, without []string) error {
	doc, err := next.Encode()
	if err != nil {
		return err
	}
	swap := remoteread.Swap(doc, p.s.Head.Version)
	swap.Remove = without
	v, err := p.s.Reader.Commit(ctx, p.pk(), with, swap)
	if err != nil {
		return remoteread.Lost(err)
	}
	p.head, p.s.Head = next, remoteread.Known{Version: v, Doc: doc.Body}
	return nil
}

// condemn makes a head that does not name some histories, and that condemns documents.
func (p *pruner) condemn(ctx context.Context, over []head.History, names []string) error {
	g := head.Gone{ID: segment.GoneID(p.s.SID, p.s.Random.Name(8)), Names: names}
	doc, err := g.Encode(p.s.SID)
	if err != nil {
		return err
	}
	next := p.without(over)
	next.Gone = append(next.Gone, g.ID)
	return p.swap(ctx, next, []segment.Document{doc})
}

// without returns the next head, which does not name some histories.
func (p *pruner) without(over []head.History) *head.Head {
	next := p.head.Clone()
	for i := range over {
		next.Histories.Drop(&over[i])
	}
	return next
}

// removeFull removes documents in the request that makes the head one that does not name
// some histories. It is for a part that has no room to condemn them: a remote that has such
// parts removes them in the request that makes the head.
func (p *pruner) removeFull(ctx context.Context, over []head.History, names []string) error {
	next := p.without(over)
	next.Fence = p.fence()
	return p.swapAs(ctx, next, nil, names)
}

// fence draws the fence of the next head. Where it had none it may have no room for one.
func (p *pruner) fence() string {
	fence := p.s.Random.Name(8)
	return fence[:min(len(fence), len(p.head.Fence))]
}

// finish removes what the head condemns, and makes one that condemns nothing.
func (p *pruner) finish(ctx context.Context) error {
	for len(p.head.Gone) > 0 {
		id := p.head.Gone[0]
		names, err := p.condemned(ctx, id)
		if err != nil {
			return err
		}
		if err := p.discard(ctx, names); err != nil {
			return err
		}
		next := p.head.Clone()
		next.Gone = slices.Delete(next.Gone, 0, 1)
		if err := p.swap(ctx, next, nil, id); err != nil {
			return err
		}
	}
	return nil
}

// condemned returns the names that a document condemns. Where it is damaged or lost, what it
// condemned is not known any more, and it is none. So that a replica which lacks it is not
// taken for that, a lost one is stored again first, empty.
func (p *pruner) condemned(ctx context.Context, id string) ([]string, error) {
	g, err := p.s.Reader.Gone(ctx, p.s.SID, id)
	switch {
	case errors.Is(err, remoteread.ErrDamaged):
		return nil, nil
	case err != nil:
		return nil, err
	case g != nil:
		return g.Names, nil
	}
	doc, err := (&head.Gone{ID: id}).Encode(p.s.SID)
	if err != nil {
		return nil, err
	}
	_, err = p.s.Reader.Commit(ctx, p.pk(), nil, remoteread.Swap(doc, ""))
	return nil, remoteread.Lost(err)
}

// discard removes documents of the session.
func (p *pruner) discard(ctx context.Context, ids []string) error {
	if err := p.s.Reader.Discard(ctx, p.pk(), ids); err != nil {
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
	if p.outdated(ctx, err) || errors.Is(err, remoteread.ErrLost) {
		return nil
	}
	return err
}
