package gc

import (
	"context"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// clearDeleted removes what is left of a deleted session but its tombstone: a
// deletion may have been interrupted, and a device that did not know of it may
// have uploaded since. Then it removes the tombstone, if its time is over.
func (p *pruner) clearDeleted(ctx context.Context) error {
	i, err := p.list(ctx)
	if err != nil {
		return err
	}
	if err := p.remove(ctx, i.remains(p.o.Grace, &p.sum)); err != nil {
		return err
	}
	return p.clearTombstone(ctx, i)
}

// clearTombstone removes a tombstone whose time is over. The service does so by
// itself, but not in a container whose expiry is off.
func (p *pruner) clearTombstone(ctx context.Context, i *inventory) error {
	for _, d := range i.docs {
		if d.ID != segment.HeadID(i.sid) || d.ETag != p.s.Head.ETag || p.head.TTL == 0 {
			continue
		}
		end := d.written().Add(time.Duration(p.head.TTL) * time.Second)
		if !i.now.After(end) {
			p.sum.wait(end.Add(time.Second))
			return nil
		}
		p.sum.Removed++
		if p.o.Plan {
			return nil
		}
		return cosmos.Discard(ctx, p.s.Reader, d.PK, []cosmos.Op{cosmos.Delete(d.ID, d.ETag)})
	}
	return nil
}

// clearRemains removes what is left of a session that has no head, as when its
// tombstone has expired or its first upload never ended, and then its entry of
// the catalogue. No head guards what is removed, so it must be old.
func (p *pruner) clearRemains(ctx context.Context) error {
	i, err := p.list(ctx)
	if err != nil {
		return err
	}
	if i.hasHead() {
		return errLagging
	}
	grace := max(p.o.Grace, firstGrace)
	garbage := i.remains(grace, &p.sum)
	p.sum.Removed += len(garbage)
	if !p.o.Plan {
		if err := cosmos.Discard(ctx, p.s.Reader, p.pk(), deletions(garbage)); err != nil {
			return fmt.Errorf("remove documents: %w", err)
		}
	}
	if len(garbage) < len(i.docs) {
		return nil
	}
	return p.clearEntry(ctx, i.now, grace)
}

// clearEntry removes the session's entry of the catalogue, unless it is young: a
// first upload writes it before all else.
func (p *pruner) clearEntry(ctx context.Context, now time.Time, grace time.Duration) error {
	e := p.s.Entry
	if e == nil {
		return nil
	}
	if now.Sub(e.Written) <= grace {
		p.sum.Waiting++
		p.sum.wait(e.Written.Add(grace + time.Second))
		return nil
	}
	p.sum.Removed++
	if p.o.Plan {
		return nil
	}
	return cosmos.Discard(ctx, p.s.Reader, segment.UserPK(e.UID), []cosmos.Op{cosmos.Delete(e.SID, e.ETag)})
}
