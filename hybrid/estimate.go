package hybrid

import (
	"context"

	"github.com/amplifier-go/sessionstorage/internal/syncer"
)

// Plan estimates what Sync would send now, before the first byte of it leaves, and what
// that would cost, reading included. Documents are segments, chunks, heads and entries
// of the catalogue, Bytes those of the documents, each as it is sent: both are what
// Sync then sends, as long as nobody changes a session between. The request units are
// by the published prices, see [Budget], and include what is read. They differ from
// those of the Sync at most by 3, and a quarter for each session, and 0.2 % of all.
// Where another device changed a session last, the Sync may cost 3 more; and it may
// cost less, because Plan counts the lines that it would read there as if they were not
// compressed. Plan itself costs what Sync would read.
func (s *Store) Plan(ctx context.Context, ids ...string) (Estimate, error) {
	var sum syncer.Estimate
	if s.engine == nil {
		return Estimate{}, wrap("plan", "", ErrNoRemote)
	}
	ctx = s.engine.asked(ctx)
	if len(ids) == 0 {
		p, err := s.engine.planSync(ctx) // all sessions, where the catalogue cannot be read
		if err != nil {
			return Estimate(sum), wrap("plan", "", err)
		}
		ids, sum.RequestUnits = p.ids, p.usage.Units
	}
	for _, id := range ids {
		if err := s.engine.Estimate(ctx, id, &sum); err != nil {
			return Estimate(sum), wrap("plan", id, err)
		}
	}
	return Estimate(sum), nil
}
