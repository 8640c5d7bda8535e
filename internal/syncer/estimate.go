package syncer

import (
	"context"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/syncplan"
	"github.com/amplifier-go/sessionstorage/internal/throttle"
)

// estimation is what a sync would be: a push that counts and sends nothing, and what would
// be fetched.
type estimation struct{ push }

// Estimate packs a session without sending anything.
func (e *Syncer) Estimate(ctx context.Context, id string, sum *Estimate) error {
	if e.Denied(ctx, id) || e.Held(ctx, id) != nil {
		return nil
	}
	leave, err := e.Enter(ctx, id)
	if err != nil {
		return err
	}
	defer leave()
	v := estimation{push{sides: e.sides(id, Options{Asked: true}), estimate: sum}}
	err = v.forecast(ctx)
	sum.RequestUnits += v.cloud.link.Usage().Units
	return err
}

// forecast does what a sync does, without sending anything.
func (v *estimation) forecast(ctx context.Context) error {
	if err := v.local.peek(ctx); err != nil || !v.local.present {
		return err
	}
	if err := v.readHead(ctx); err != nil {
		return err
	}
	a, err := v.plan(ctx)
	if err != nil || a.Kind == syncplan.Deleted || a.Kind == syncplan.Blocked {
		return err
	}
	p, err := v.build(ctx, a)
	if err != nil {
		return err
	}
	next := v.cloud.head
	if p.changed {
		next = p.next
		doc, err := next.Encode()
		if err != nil {
			return err
		}
		v.estimate.count(doc.Size(), v.cloud.head != nil)
	}
	if a.Kind == syncplan.Pull || a.Kind == syncplan.Diverge {
		if err := v.forecastPull(ctx); err != nil {
			return err
		}
	}
	return v.forecastEntry(next)
}

// forecastPull counts what is read of the lines that are not here.
func (v *estimation) forecastPull(ctx context.Context) error {
	from, infos, err := v.meeting(ctx)
	if err != nil {
		return err
	}
	spans, err := segment.Tile(segment.Transcript, infos, from.Point(), v.cloud.head.Transcript.Point())
	for _, s := range spans {
		v.estimate.RequestUnits += throttle.ReadUnits(int(s.Bytes))
	}
	return remoteread.Damaged(err)
}

// forecastEntry counts the entry of the catalogue, if it is not up to date.
func (v *estimation) forecastEntry(next *head.Head) error {
	if !v.entryIsOld(next) {
		return nil
	}
	entry := next.Catalogue(v.UID(), next.Name())
	doc, err := entry.Encode()
	if err != nil {
		return err
	}
	v.estimate.count(doc.Size(), v.st.Cat.Version != "")
	return nil
}
