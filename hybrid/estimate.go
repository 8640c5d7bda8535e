package hybrid

import (
	"context"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/syncplan"
	"github.com/amplifier-go/sessionstorage/internal/tip"
)

// Plan estimates what Sync would send now, before the first byte of it leaves,
// and what that would cost, reading included. Documents are segments, chunks,
// tips and entries of the catalogue, Bytes those of the documents, each as it is
// sent; the request units are by the published prices, see [Budget]. Plan reads
// what Sync would read, at the same price. A session that others change
// meanwhile costs more.
func (s *Store) Plan(ctx context.Context, ids ...string) (Estimate, error) {
	var sum Estimate
	if s.engine == nil {
		return sum, wrap("plan", "", ErrNoContainer)
	}
	s.engine.budget.reopen()
	if len(ids) == 0 {
		all, err := s.engine.local(ctx)
		if err != nil {
			return sum, wrap("plan", "", err)
		}
		ids = all
	}
	for _, id := range ids {
		if err := s.engine.estimate(ctx, id, &sum); err != nil {
			return sum, wrap("plan", id, err)
		}
	}
	return sum, nil
}

// estimate packs a session without sending anything.
func (e *engine) estimate(ctx context.Context, id string, sum *Estimate) error {
	if e.denied(ctx, id) {
		return nil
	}
	leave, err := e.enter(ctx, id)
	if err != nil {
		return err
	}
	defer leave()
	v := e.begin(id, want{asked: true})
	v.glancing, v.estimate = true, sum
	err = v.forecast(ctx)
	sum.RequestUnits += v.link.used.charge
	return err
}

// forecast does what a visit does, without sending anything.
func (v *visit) forecast(ctx context.Context) error {
	if err := v.look(ctx); err != nil || !v.present {
		return err
	}
	if err := v.readTip(ctx); err != nil {
		return err
	}
	a, err := v.plan(ctx)
	if err != nil || a.Kind == syncplan.Deleted || a.Kind == syncplan.Blocked {
		return err
	}
	p, err := v.pack(ctx, a)
	if err != nil {
		return err
	}
	next := v.tip
	if p.changed {
		next = p.next
		doc, err := next.Encode()
		if err != nil {
			return err
		}
		v.estimate.count(doc.Body, v.tip != nil)
	}
	if a.Kind == syncplan.Pull || a.Kind == syncplan.Diverge {
		if err := v.forecastPull(ctx); err != nil {
			return err
		}
	}
	return v.forecastEntry(next)
}

// forecastPull counts what is read of the lines that are not here.
func (v *visit) forecastPull(ctx context.Context) error {
	from, infos, err := v.meeting(ctx)
	if err != nil {
		return err
	}
	spans, err := segment.Tile(segment.Transcript, infos, from.Point(), v.tip.Transcript.Point())
	for _, s := range spans {
		v.estimate.RequestUnits += readUnits(int(s.Bytes))
	}
	return damaged(err)
}

// forecastEntry counts the entry of the catalogue, if it is due.
func (v *visit) forecastEntry(next *tip.Tip) error {
	if next == nil || next.Writer.Device != v.dev.id || next.Revision <= v.st.Cat.Revision || time.Now().Before(v.st.Cat.At.Add(catalogueEvery)) {
		return nil
	}
	entry := next.Catalogue(v.uid(), nameOf(next))
	doc, err := entry.Encode()
	if err != nil {
		return err
	}
	v.estimate.count(doc.Body, v.st.Cat.ETag != "")
	return nil
}

// The prices are those that the service publishes: a point read of 1 KB costs
// one request unit and of 100 KB ten, an insert 5.5 times that and a little for
// each indexed value, a replacement twice as much as an insert.
const (
	insertFactor  = 5.5
	indexedValue  = 0.2
	indexedValues = 4
)

func readUnits(bytes int) float64 {
	kb := max(1, float64(bytes)/1024)
	return 1 + (kb-1)*9/99
}

// count adds a document that is to be written.
func (e *Estimate) count(body []byte, replaces bool) {
	units := insertFactor*readUnits(len(body)) + indexedValue*indexedValues
	if replaces {
		units *= 2
	}
	e.Documents++
	e.Bytes += int64(len(body))
	e.RequestUnits += units
}
