package hybrid

import (
	"context"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
)

// History is a history of a session that is not its main line: a branch, which a device had
// when another went on, or a former head that a rewrite replaced.
type History struct {
	ID       string    // of this history, for [Store.Restore]
	Messages int       // in all
	Common   int       // that it shares with the head it left; 0 where that is not known
	Device   string    // that wrote it, or replaced it
	At       time.Time // when it was left
	Why      string    // branch, rewrite or restore
	KeptAs   string    // session that holds it on that device; "" for none

	extent head.Extent
}

// Histories returns the histories of a session that are not its main line, the
// latest first, as long as the cloud keeps them. When the list of them is damaged, or
// lags, the error Is [ErrDamaged], and what could be read is returned.
func (s *Store) Histories(ctx context.Context, id string) ([]History, error) {
	if s.engine == nil {
		return nil, wrap("list histories", id, ErrNoRemote)
	}
	ctx = s.engine.asked(ctx)
	found, err := s.engine.Histories(ctx, id)
	var all []History
	for _, h := range found {
		all = append(all, History{
			ID:       h.Extent.Hash.String()[:16], // without the key of the session, which the names of all documents begin with
			Messages: int(h.Extent.N), Common: int(h.Common), Device: h.Device, At: h.At, Why: h.Why, KeptAs: h.KeptAs, extent: h.Extent,
		})
	}
	return all, wrap("list histories", id, err)
}

// Restore makes a history the session's main line, on every device; what was
// the main line becomes a former head. What this device has not sent yet is sent
// first. Where somebody runs the session here, its files follow later. h must
// be one that Histories returned. The error Is [ErrLocal], [ErrHeld] or [ErrRedaction]
// where the rules hold the session back.
func (s *Store) Restore(ctx context.Context, id string, h History) error {
	if s.engine == nil {
		return wrap("restore", id, ErrNoRemote)
	}
	ctx = s.engine.asked(ctx)
	if s.engine.Core.Has(id) {
		if _, err := s.Sync(ctx, id); err != nil {
			return err
		}
	}
	return wrap("restore", id, s.engine.Restore(ctx, id, h.extent))
}
