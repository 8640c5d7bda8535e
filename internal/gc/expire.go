package gc

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/head"
)

// expire gives up the former heads that are older than they are kept.
func (p *pruner) expire(ctx context.Context) error {
	now := p.s.Reader.Time()
	if p.o.Retention < 0 || now.IsZero() {
		return nil
	}
	var over, kept []head.History
	for _, h := range p.histories {
		if !h.Branch() && now.Sub(h.At) > p.o.Retention {
			over = append(over, h)
			continue
		}
		if kept = append(kept, h); !h.Branch() {
			p.sum.wait(h.At.Add(p.o.Retention + time.Second))
		}
	}
	if p.o.Plan {
		p.sum.Expired += len(over)
		return nil
	}
	for part := range slices.Chunk(over, cosmos.MaxOps-1) {
		if err := p.giveUp(ctx, part); err != nil {
			return fmt.Errorf("give up former heads: %w", err)
		}
		p.sum.Expired += len(part)
	}
	p.histories = kept
	return nil
}

// giveUp makes a head that does not count some histories, and removes their documents.
func (p *pruner) giveUp(ctx context.Context, over []head.History) error {
	next := p.head.Clone()
	next.Revision++
	next.Op = p.s.Device + "-" + p.s.Random.Name(6)
	var deletes []cosmos.Op
	for i := range over {
		next.Histories.Drop(&over[i])
		deletes = append(deletes, cosmos.Delete(over[i].ID, ""))
	}
	doc, err := next.Encode()
	if err != nil {
		return err
	}
	if err := p.guard.Replace(ctx, doc.Body, deletes...); err != nil {
		return err
	}
	p.head = next
	return nil
}
