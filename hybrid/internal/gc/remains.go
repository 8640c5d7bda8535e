package gc

import (
	"context"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
)

// lastLook is how long after a tombstone was written last Prune looks for documents of its
// session once more.
const lastLook = 90 * 24 * time.Hour

// clearDeleted removes what is left of a deleted session but its tombstone: a
// deletion may have been interrupted, and a device that did not know of it may
// have uploaded since.
func (p *pruner) clearDeleted(ctx context.Context) error {
	i, err := p.list(ctx)
	if err != nil {
		return err
	}
	garbage := idsOf(i.remains(p.o.Grace, &p.sum))
	if len(garbage) > 0 && !p.o.Plan {
		if err := p.swap(ctx, p.head.Clone(), nil); err != nil {
			return err
		}
		if err := p.discard(ctx, garbage); err != nil {
			return err
		}
	}
	p.sum.Removed += len(garbage)
	last := i.now
	if t := i.headDocument(); t != nil && len(garbage) == 0 {
		last = t.Time
	}
	if last = last.Add(lastLook + time.Second); last.After(i.now) {
		p.sum.wait(last)
	}
	return p.enterDeleted(ctx)
}

// enterDeleted writes the entry of a tombstone, where the device that deleted the session
// did not come to that.
func (p *pruner) enterDeleted(ctx context.Context) error {
	e := p.s.Entry
	if e == nil || e.Deleted || p.o.Plan {
		return nil
	}
	entry := p.head.Catalogue(e.UID, "")
	_, err := p.s.Reader.WriteEntry(ctx, &entry, e.Version)
	return err
}

// clearRemains removes what is left of a session that has no head, as when its first upload
// never ended, and marks its entry of the catalogue as deleted. No head tells of a writer
// that is under way, so what is removed must be old.
func (p *pruner) clearRemains(ctx context.Context) error {
	i, err := p.list(ctx)
	if err != nil {
		return err
	}
	if i.headDocument() != nil {
		return errLagging
	}
	grace := max(p.o.Grace, firstGrace)
	garbage := idsOf(i.remains(grace, &p.sum))
	if !p.o.Plan {
		if err := p.discard(ctx, garbage); err != nil {
			return err
		}
	}
	p.sum.Removed += len(garbage)
	if len(garbage) < len(i.docs) {
		return nil
	}
	return p.clearEntry(ctx, i.now, grace)
}

// clearEntry marks the session's entry of the catalogue as deleted, unless it is young: a
// first upload writes it before all else.
func (p *pruner) clearEntry(ctx context.Context, now time.Time, grace time.Duration) error {
	e := p.s.Entry
	if e == nil || e.Deleted {
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
	dead := e.Catalogue
	dead.Deleted, dead.Name = true, ""
	doc, err := dead.Encode()
	if err != nil {
		return err
	}
	_, err = p.s.Reader.Commit(ctx, doc.PK, nil, remoteread.Swap(doc, e.Version))
	return remoteread.Lost(err)
}
