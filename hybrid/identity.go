package hybrid

import (
	"context"
	"iter"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// unasked is the remote of a store that knows no more of it than its identity; see
// Options.Identity. All requests fail.
type unasked string

// Info implements [remote.Remote].
func (u unasked) Info(context.Context) (remote.Info, error) {
	return remote.Info{Identity: string(u)}, nil
}

// Get implements [remote.Remote].
func (unasked) Get(context.Context, string, string, remote.Version) (remote.Object, error) {
	return remote.Object{}, ErrNoRemote
}

// List implements [remote.Remote].
func (unasked) List(context.Context, string, remote.Query) iter.Seq2[remote.Object, error] {
	return func(yield func(remote.Object, error) bool) { yield(remote.Object{}, ErrNoRemote) }
}

// Commit implements [remote.Remote].
func (unasked) Commit(context.Context, string, []remote.Object, *remote.Swap) (remote.Version, error) {
	return "", ErrNoRemote
}

// Delete implements [remote.Remote].
func (unasked) Delete(context.Context, string, []string) error { return ErrNoRemote }
