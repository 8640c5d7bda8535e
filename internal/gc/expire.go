package gc

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/remote"
)

// expire gives up the former heads that are older than they are kept.
func (p *pruner) expire(ctx context.Context) error {
	now := p.s.Reader.Time()
	if p.o.Retention < 0 || now.IsZero() || len(p.head.Old)+len(p.head.OldMore) == 0 {
		return nil
	}
	former, err := p.lists.Former(ctx, p.head)
	if err != nil {
		return fmt.Errorf("list former heads: %w", err)
	}
	kept := slices.DeleteFunc(slices.Clone(former), func(o head.Old) bool { return now.Sub(o.At) > p.o.Retention })
	for _, o := range kept {
		p.sum.wait(o.At.Add(p.o.Retention + time.Second))
	}
	if len(kept) == len(former) {
		return nil
	}
	p.sum.Expired += len(former) - len(kept)
	if p.o.Plan {
		return nil
	}
	return p.keepFormer(ctx, kept)
}

// keepFormer makes a head with these former heads and no others.
func (p *pruner) keepFormer(ctx context.Context, former []head.Old) error {
	slices.SortStableFunc(former, func(a, b head.Old) int { return a.At.Compare(b.At) })
	next := p.head.Clone()
	next.Revision++
	next.Op = p.s.Device + "-" + p.s.Random.Name(6)
	over := max(0, len(former)-head.MaxOld)
	next.Old, next.OldMore = former[over:], nil
	var lists []cosmos.Op
	for part := range slices.Chunk(former[:over], head.MaxMore) {
		docs, err := p.lists.Apply(ctx, &next.OldMore, remote.Change{Old: part})
		if err != nil {
			return err
		}
		for _, doc := range docs {
			lists = append(lists, cosmos.Put(doc.Body))
		}
	}
	doc, err := next.Encode()
	if err != nil {
		return err
	}
	if err := p.guard.Replace(ctx, doc.Body, lists...); err != nil {
		return err
	}
	p.head = next
	return nil
}
