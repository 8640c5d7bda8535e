package syncer

import (
	"context"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/resync"
)

// Resync writes what the cloud has of sessions anew, under the rules of redaction of this
// program. It reads and changes no file here. The error Is [ErrRedaction] when
// this program has no rules, or some that may find less than others that were applied.
func (e *Syncer) Resync(ctx context.Context, ids []string) error {
	r, err := e.resyncer()
	if err != nil {
		return err
	}
	return r.Resync(ctx, ids)
}

func (e *Syncer) resyncer() (*resync.Resyncer, error) {
	if err := e.redactionHolds(); err != nil {
		return nil, err
	}
	if e.Redact == nil || e.Redact.Version() == "" {
		return nil, fmt.Errorf("%w: this program has none, so there is nothing to take out", ErrRedaction)
	}
	return &resync.Resyncer{
		Project: e.project(), Rules: e.Redact, Random: e.Random, Allowed: e.rulesHold,
		Writer: head.Writer{Device: e.Device.ID, Host: e.Device.Host, Library: library},
	}, nil
}

// ForecastResync tells what [Syncer.Resync] would store and remove, and what that costs.
func (e *Syncer) ForecastResync(ctx context.Context, ids []string) (resync.Cost, error) {
	r, err := e.resyncer()
	if err != nil {
		return resync.Cost{}, err
	}
	cost, err := r.Forecast(ctx, ids)
	return cost, err
}
