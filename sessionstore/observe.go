package sessionstore

import (
	"context"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/fault"
)

// Observer is told what a store does, for traces and metrics. Its methods are
// called by whoever did it, by many goroutines at once; they must not block nor
// call the store. What it is told never holds content.
type Observer interface {
	// Called tells of a call that has ended. ctx is the caller's.
	Called(ctx context.Context, c Call)
	// Wrote tells that so many bytes were written to a file, and Synced that a
	// file or a directory was synced.
	Wrote(bytes int)
	Synced()
}

// Call is a call of a store that lists, reads or writes. Those of the packages
// that keep files beside a transcript have the Op "change".
type Call struct {
	Op        string // as in [Error]
	Session   string // empty when no one session is concerned
	Start     time.Time
	Recovered bool  // a backup was read in the place of a damaged file
	Err       error // what the call returned
}

// clock returns when a call begins, if anybody wants to know.
func (st *Store) clock() time.Time {
	if st.opts.Observer == nil {
		return time.Time{}
	}
	return time.Now()
}

// called tells the observer of a call and returns its error.
func (st *Store) called(ctx context.Context, op, id string, start time.Time, err error) error {
	if st.opts.Observer != nil {
		st.opts.Observer.Called(ctx, Call{Op: op, Session: id, Start: start, Err: err})
	}
	return err
}

// loaded is called for what read a session.
func (st *Store) loaded(ctx context.Context, op string, start time.Time, s *Session, id string, err error) error {
	if st.opts.Observer != nil {
		recovered := s != nil && s.Recovered != nil
		st.opts.Observer.Called(ctx, Call{Op: op, Session: id, Start: start, Recovered: recovered, Err: err})
	}
	return err
}

// observing returns seam, made to tell o what is written and synced.
func observing(seam *fault.Seam, o Observer) *fault.Seam {
	if o == nil {
		return seam
	}
	var s fault.Seam
	if seam != nil {
		s = *seam
	}
	then := s.After
	s.After = func(op fault.Op) {
		switch op.Kind {
		case fault.Write:
			o.Wrote(len(op.Data))
		case fault.Sync, fault.SyncDir:
			o.Synced()
		}
		if then != nil {
			then(op)
		}
	}
	return &s
}
