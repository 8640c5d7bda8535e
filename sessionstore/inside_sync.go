package sessionstore

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// Kept opens the directory name of the bookkeeping, and makes it when it is
// not there. What is in it may be lost at any time.
func (in Inside) Kept(name string) (*atomicfile.Dir, error) { return in.st.base.Kept(name) }

// Has reports whether there is a session id.
func (in Inside) Has(id string) bool { return checkID(id) == nil && in.st.base.Has(id) }

// Free reports whether nobody writes session id now, in any process, and
// nobody has acquired it by this store; that this store's own writes hold its
// ownership lock does not count.
func (in Inside) Free(id string) bool {
	s := in.st.session(id)
	s.hold.mu.Lock()
	running := s.hold.asked > 0
	s.hold.mu.Unlock()
	return !running && in.st.base.Free(id)
}

// Settled reports whether a change of a file after its stamp was taken, at the
// time at, is sure to show in a later stamp.
func (in Inside) Settled(s sessiondir.Stamp, at time.Time) bool { return in.st.base.Settled(s, at) }

// Own takes the ownership lock of session id for a short time, where it
// protects anything, and as writes of the transcript do. The error Is
// [ErrLocked] or [ErrFenced] when somebody else runs the session.
func (in Inside) Own(ctx context.Context, id string) (release func() error, err error) {
	h := &in.st.session(id).hold
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held == nil {
		place, err := in.st.locate(id, false)
		if err == nil {
			err = h.take(ctx, place, Owner{})
		}
		if errors.Is(err, ErrLocked) || errors.Is(err, ErrFenced) || ctx.Err() != nil {
			return nil, err
		}
	}
	h.uses++
	return sync.OnceValue(h.disuse), nil
}

// disuse ends one use and leaves those of others alone.
func (h *hold) disuse() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.uses--; h.uses > 0 {
		return nil
	}
	return h.drop()
}
