package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/amplifier-go/sessionstorage/internal/limits"
	"github.com/amplifier-go/sessionstorage/internal/lock"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// begin admits a call: Close waits until it is done. A call leaves nothing in
// the store before it is admitted.
func (st *Store) begin(ctx context.Context) error {
	if err := alive(ctx); err != nil {
		return err
	}
	st.given().mu.Lock()
	defer st.mu.Unlock()
	if st.closed || st.base == nil {
		return errClosed
	}
	st.calls.Add(1)
	return nil
}

var errClosed = limits.Errorf(ErrClosed, "the store is closed")

// done ends a call that was admitted.
func (st *Store) done() { st.calls.Done() }

// admit begins a call on session id and returns the store's entry for that
// session. The caller must dismiss it.
func (st *Store) admit(ctx context.Context, id string) (*session, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	if err := st.begin(ctx); err != nil {
		return nil, err
	}
	return st.cache.call(id), nil
}

// dismiss ends the call on s.
func (st *Store) dismiss(s *session) {
	st.cache.end(s)
	st.done()
}

// enter waits until no other call of this store writes the session, and takes
// the session's open state directory out of the cache. The caller must leave.
func (st *Store) enter(ctx context.Context, s *session) error {
	select {
	case s.gate <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.state = st.states.take(s.id)
	return nil
}

// leave gives the state directory back and lets the next call enter.
func (st *Store) leave(s *session) {
	state := s.state
	s.state = nil
	if err := st.states.put(s.id, state); err != nil {
		st.log.Warn("state directories not closed", "err", err)
	}
	<-s.gate
}

// openDir opens the directory of an existing session for reading.
func (st *Store) openDir(id string) (*sessiondir.Dir, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	dir, err := st.base.Dir(id)
	if st.relieved(err) {
		dir, err = st.base.Dir(id)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notFound(id)
	}
	return dir, err
}

// relieved reports whether the caller should try again what failed with err:
// the process or the system had no descriptor left, and relieved has closed
// the state directories that it keeps open.
func (st *Store) relieved(err error) bool {
	if !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) {
		return false
	}
	some, err := st.states.empty()
	if err != nil {
		st.log.Warn("state directories not closed", "err", err)
	}
	return some
}

// lockError returns the error of a session's lock as one of this package.
func lockError(ctx context.Context, err error) error {
	if errors.Is(err, lock.ErrBusy) && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", ErrLocked, err)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		err = needsSingleWriter(err)
	}
	return err
}

// needsSingleWriter says how to write where the file system has no locks.
func needsSingleWriter(err error) error {
	return fmt.Errorf("%w; where no other process writes these sessions, sessionstore.Options.SingleWriter goes on without locks of the system", err)
}
