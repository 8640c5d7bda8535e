package hybridtest

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// Remote keeps the objects that the stores of a test send, as long as the test holds it.
// Stores that are opened with the same Remote are devices of one user. Its methods may be
// called by many goroutines.
type Remote struct {
	memory memremote.Remote

	mu      sync.Mutex    // guards the fields below
	refuses error         // the error of each request; nil: it is served
	hung    chan struct{} // not nil: requests wait until it is closed
}

// New returns an empty remote that answers.
func New() *Remote { return &Remote{} }

// Cut lets each request fail at once with [remote.ErrUnreachable], until Mend. Requests that
// hang fail, too.
func (r *Remote) Cut() {
	r.Refuse(&remote.Unreachable{Err: errors.New("the test has cut it off"), Kind: remote.Away})
}

// Refuse lets each request fail at once with err, as [remote.ErrUnauthorized], until Mend.
// Requests that hang fail, too.
func (r *Remote) Refuse(err error) { r.become(err, nil) }

// Hang lets each request wait, until its context ends or another method of this type is
// called. No part of it is done before. A store ends a request after half a minute.
func (r *Remote) Hang() { r.become(nil, make(chan struct{})) }

// Mend lets requests be served again, also those that hang.
func (r *Remote) Mend() { r.become(nil, nil) }

func (r *Remote) become(refuses error, hung chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hung != nil {
		close(r.hung)
	}
	r.refuses, r.hung = refuses, hung
}

// pass returns when a request may be served, or the reason why it is not.
func (r *Remote) pass(ctx context.Context) error {
	start := time.Now()
	remote.Moved(ctx)
	for {
		r.mu.Lock()
		err, hung := r.refuses, r.hung
		r.mu.Unlock()
		if hung == nil && err == nil {
			return nil // the memory reports to the observer
		}
		if hung != nil {
			select {
			case <-hung:
				continue
			case <-ctx.Done():
				err = context.Cause(ctx)
			}
		}
		remote.Observe(ctx, remote.Request{Start: start, Err: err})
		return err
	}
}

// Info implements [remote.Remote]. It makes no request.
func (r *Remote) Info(ctx context.Context) (remote.Info, error) { return r.memory.Info(ctx) }

// Get implements [remote.Remote].
func (r *Remote) Get(ctx context.Context, part, name string, known remote.Version) (remote.Object, error) {
	if err := r.pass(ctx); err != nil {
		return remote.Object{}, err
	}
	return r.memory.Get(ctx, part, name, known)
}

// List implements [remote.Remote].
func (r *Remote) List(ctx context.Context, part string, q remote.Query) iter.Seq2[remote.Object, error] {
	return func(yield func(remote.Object, error) bool) {
		if err := r.pass(ctx); err != nil {
			yield(remote.Object{}, err)
			return
		}
		r.memory.List(ctx, part, q)(yield)
	}
}

// Commit implements [remote.Remote]. It stores all or nothing.
func (r *Remote) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	if err := r.pass(ctx); err != nil {
		return "", err
	}
	return r.memory.Commit(ctx, part, objects, swap)
}

// Delete implements [remote.Remote].
func (r *Remote) Delete(ctx context.Context, part string, names []string) error {
	if err := r.pass(ctx); err != nil {
		return err
	}
	return r.memory.Delete(ctx, part, names)
}
