package gc

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// Prune keeps what the cloud has of a session small. It may be interrupted
// anywhere, and run by several devices at once and beside writers; the package's
// doc tells why. With an error, it returns what it did until then. The error Is
// [remoteread.ErrDamaged] when a part of the session was left alone because it is
// damaged, and [remoteread.ErrContended] when other devices keep changing the head.
func Prune(ctx context.Context, s *Session, o Options) (Result, error) {
	p := &pruner{s: s, o: o}
	err := remoteread.Again(ctx, s.Random, func() error {
		err := p.round(ctx)
		if p.outdated(ctx, err) {
			err = fmt.Errorf("%w: %w", remoteread.ErrLost, err)
		}
		return err
	})
	return p.sum, err
}

// round does all steps once, by the head as it is now.
func (p *pruner) round(ctx context.Context) error {
	p.sum.Waiting, p.sum.Due = 0, Result{}.Due
	if p.o.Plan {
		p.sum = Result{}
	}
	if err := p.readHead(ctx); err != nil {
		return err
	}
	if p.head == nil {
		return p.clearRemains(ctx)
	}
	if p.head.Deleted {
		return p.clearDeleted(ctx)
	}
	if !p.o.Plan {
		if err := p.finish(ctx); err != nil {
			return err
		}
	}
	if err := p.readHistories(ctx); err != nil {
		return err
	}
	i, err := p.list(ctx)
	if err != nil {
		return err
	}
	p.expire(i)
	damage := p.merge(ctx, i)
	full := errors.Is(damage, remote.ErrFull)
	if damage != nil && !full && !errors.Is(damage, remoteread.ErrDamaged) {
		return damage
	}
	before := p.sum.Removed
	err = p.collect(ctx, i)
	if full && p.sum.Removed > before {
		damage = nil // there is room for the next Prune to merge
	}
	return errors.Join(damage, err)
}

// collect removes the former heads of an inventory that are over, and its garbage.
func (p *pruner) collect(ctx context.Context, i *inventory) error {
	live, over, names := i.live(), i.over, []string{}
	for _, h := range over {
		names = append(names, h.ID)
	}
	for _, d := range i.garbage(live, p.o.Grace, &p.sum) {
		names = append(names, d.Name)
	}
	for len(names) > 0 {
		n, err := p.remove(ctx, over, names)
		if err != nil {
			return err
		}
		over, names = over[min(n, len(over)):], names[n:]
	}
	return live.damage
}

// remove gives up former heads and removes documents, as many as fit into a request, and
// returns how many these are. The names are those of the former heads first.
func (p *pruner) remove(ctx context.Context, over []head.History, names []string) (n int, err error) {
	n = min(len(names), maxNames)
	if !p.o.Plan {
		err = p.condemn(ctx, over[:min(n, len(over))], names[:n])
	}
	if errors.Is(err, remote.ErrFull) {
		n = min(len(names), max(1, p.s.Reader.Batch(ctx).Objects-1))
		err = p.removeFull(ctx, over[:min(n, len(over))], names[:n])
	}
	if err != nil {
		return 0, err
	}
	expired := min(n, len(over))
	p.sum.Expired += expired
	p.sum.Removed += n - expired
	if p.o.Plan {
		return n, nil
	}
	return n, p.finish(ctx)
}
