package hybrid

import (
	"context"

	"github.com/amplifier-go/sessionstorage/internal/syncplan"
)

// Plan estimates what Sync would send, before the first byte of it leaves. It
// reads the tips. Documents are segments, chunks and tips, without entries of
// the catalogue; Bytes are those of the documents.
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
	if err != nil || !p.changed {
		return err
	}
	doc, err := p.next.Encode()
	if err != nil {
		return err
	}
	sum.count(doc.Body, v.tip != nil)
	sum.RequestUnits += readUnits(len(doc.Body))
	return nil
}

// The prices are those that the service publishes: a point read of 1 KB costs
// one request unit and of 100 KB ten, an insert 5.5 times that and a little for
// each indexed value, a replacement twice as much as an insert.
const (
	insertFactor  = 5.5
	indexedValue  = 0.2
	indexedValues = 3
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
