package hybrid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncer"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// listing is what a scan of the directory found.
type listing struct {
	sessions []sessiondir.Entry // all that are here, the one that changed last first
	changed  map[string]bool    // by id, those to sync
}

// scanAll finds the sessions that are not known to be in step with the cloud. It
// opens no file.
func (e *engine) scanAll(ctx context.Context) (*listing, error) {
	return e.list(ctx, e.Stats.NotInStep)
}

// scanChanged finds the sessions that changed since this store synced them last. It
// opens no file.
func (e *engine) scanChanged(ctx context.Context) (*listing, error) {
	return e.list(ctx, e.Stats.Changed)
}

func (e *engine) list(ctx context.Context, changed func([]sessiondir.Entry) map[string]bool) (*listing, error) {
	all, err := e.Core.Entries(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b sessiondir.Entry) int {
		return cmp.Or(b.Modified.Compare(a.Modified), cmp.Compare(a.Name, b.Name))
	})
	return &listing{sessions: all, changed: changed(all)}, ctx.Err()
}

// scan marks the sessions whose files changed since this store synced them
// last, and those that are gone.
func (w *worker) scan(ctx context.Context) {
	f, err := w.scanChanged(ctx)
	if err != nil {
		if ctx.Err() == nil {
			w.Log.Warn("sessions not listed", "err", err)
		}
		return
	}
	for _, at := range f.sessions {
		if f.changed[at.Name] {
			w.Dirty.Add(at.Name, replica.Written)
		}
	}
	for _, id := range w.Stats.Gone(f.sessions) {
		w.Dirty.Add(id, replica.Written)
	}
}

// drain sends what the sessions have that is not sent, with their entries of the
// catalogue. The error tells how many sessions could not be sent, and why.
func (e *engine) drain(ctx context.Context, ids []string) error {
	errs := newErrors()
	e.parallel(ids, func(id string) {
		err := ctx.Err()
		if err == nil {
			out, _ := e.syncOne(ctx, id, syncer.Options{Mode: syncer.Closing})
			err = out.Err
		}
		if err != nil && !errors.Is(err, ErrRemoved) {
			errs.add(wrap("sync", id, err))
		}
	})
	if n := len(errs.list); n > 0 {
		return fmt.Errorf("%w: %d sessions wait on this device and are sent when the directory is opened again: %w", ErrDeferred, n, errs.list[0])
	}
	return nil
}
