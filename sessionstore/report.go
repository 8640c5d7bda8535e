package sessionstore

import (
	"context"
	"time"
)

// clock returns when a call begins, if anybody wants to know.
func (st *Store) clock() time.Time {
	if st.given().opts.Observer == nil {
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

// changed tells OnChange what was written.
func (st *Store) changed(id string, op Op, files ...string) {
	if st.opts.OnChange == nil {
		return
	}
	st.changes.Lock()
	defer st.changes.Unlock()
	for _, name := range files {
		st.opts.OnChange(Change{ID: id, File: name, Op: op})
	}
}
