package agentstate

import (
	"context"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Options are the settings of a [State].
type Options struct {
	Durability sessionstore.Durability // Relaxed: less than the store's; else the store's
	Now        func() time.Time        // nil: the store's
}

// A State is the stored state of an agent in one session.
type State struct {
	core   core.Store
	id     string
	sync   bool
	now    func() time.Time
	closed atomic.Bool

	mu  sync.Mutex       // guards end
	end *sessiondir.Tail // of the history as this State last wrote it
}

// Open opens the state of a session. The error Is [fs.ErrNotExist] when there
// is no such session. opts may be nil. Closing the store waits for calls under
// way; later calls fail with [sessionstore.ErrClosed].
func Open(st *sessionstore.Store, id string, opts *Options) (*State, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	store := core.Of(st)
	if o.Now == nil {
		o.Now = store.Now
	}
	if id == "" || !st.Exists(id) {
		return nil, limits.Errorf(fs.ErrNotExist, "open state: there is no session %q", limits.ID(id))
	}
	return &State{core: store, id: id, sync: store.Syncs() && o.Durability != sessionstore.Relaxed, now: o.Now}, nil
}

// Close ends the use of the state: later calls fail with
// [sessionstore.ErrClosed]. Nothing is left to be written.
func (s *State) Close() error {
	s.closed.Store(true)
	return nil
}

var errClosed = limits.Errorf(sessionstore.ErrClosed, "the state is closed")

// ID returns the session's id.
func (s *State) ID() string { return s.id }

// changing does something with the session's directory as its only writer.
func (s *State) changing(ctx context.Context, do func(core.Tx) error) error {
	if s.closed.Load() {
		return errClosed
	}
	return s.core.Change(ctx, s.id, do)
}

// reading does something with the session's directory without a lock.
func (s *State) reading(ctx context.Context, do func(*sessiondir.Dir) error) error {
	if s.closed.Load() {
		return errClosed
	}
	return s.core.Read(ctx, s.id, do)
}
