package telemetry

import (
	"context"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// storeObservers are two observers of a store, called one after the other.
type storeObservers [2]sessionstore.Observer

func (o storeObservers) Called(ctx context.Context, c sessionstore.Call) {
	o[0].Called(ctx, c)
	o[1].Called(ctx, c)
}

func (o storeObservers) Wrote(bytes int) {
	o[0].Wrote(bytes)
	o[1].Wrote(bytes)
}

func (o storeObservers) Synced() {
	o[0].Synced()
	o[1].Synced()
}

// hybridObservers are two observers of syncs, called one after the other.
type hybridObservers [2]hybrid.Observer

func (o hybridObservers) SessionSynced(ctx context.Context, v hybrid.SessionSync) {
	o[0].SessionSynced(ctx, v)
	o[1].SessionSynced(ctx, v)
}

func (o hybridObservers) Requested(ctx context.Context, r hybrid.Request) {
	o[0].Requested(ctx, r)
	o[1].Requested(ctx, r)
}
