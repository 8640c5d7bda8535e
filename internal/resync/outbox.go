package resync

import (
	"context"
	"fmt"
	"iter"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// outbox stores documents that no head leads to yet, as many in a request as fit.
type outbox struct {
	*Resyncer
	sid   string
	ops   []cosmos.Op
	ids   []string // of the documents of ops
	bytes int
}

// take stores documents.
func (o *outbox) take(ctx context.Context, docs iter.Seq2[segment.Document, error]) error {
	for d, err := range docs {
		if err != nil {
			return err
		}
		if err := o.add(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// add stores a document, at the latest with the next flush.
func (o *outbox) add(ctx context.Context, d segment.Document) error {
	if len(o.ops) == cosmos.MaxOps || len(o.ops) > 0 && o.bytes+len(d.Body) > cosmos.MaxBytes {
		if err := o.flush(ctx); err != nil {
			return err
		}
	}
	o.kept[d.ID] = true
	o.bytes += len(d.Body)
	o.ops, o.ids = append(o.ops, cosmos.Put(d.Body)), append(o.ids, d.ID)
	return nil
}

// flush stores what waits.
func (o *outbox) flush(ctx context.Context) error {
	ops, ids := o.ops, o.ids
	o.ops, o.ids, o.bytes = nil, nil, 0
	if len(ops) == 0 {
		return nil
	}
	if o.cost != nil {
		o.cost.Requests++
		for i, op := range ops {
			_, replaces := o.sizes.of(ids[i]) // the part of a long line that no rule changes
			o.cost.store(op.Body, replaces)
		}
		return nil
	}
	a := o.Reader.Batch(ctx, segment.SessionPK(o.sid), ops...)
	if a.Class == cosmos.TooLarge && len(ops) > 1 {
		return o.each(ctx, ops)
	}
	return stored(a)
}

// each stores documents one by one: the account takes no such batch.
func (o *outbox) each(ctx context.Context, ops []cosmos.Op) error {
	for _, op := range ops {
		if err := stored(o.Reader.Batch(ctx, segment.SessionPK(o.sid), op)); err != nil {
			return err
		}
	}
	return nil
}

func stored(a cosmos.Answer) error {
	switch a.Class {
	case cosmos.OK:
		return nil
	case cosmos.TooLarge:
		return fmt.Errorf("store lines: %w: %w", errTooBig, a.Err)
	case cosmos.Changed, cosmos.Exists, cosmos.Missing:
		return fmt.Errorf("store lines: %w", a.Lost())
	}
	return fmt.Errorf("store lines: %w", a.Err)
}
