package sessionstore

import (
	"context"
	"fmt"
	"slices"
)

// appending is one Append that waits to be written.
type appending struct {
	rows []Message
	done bool // guarded by the session's gate
	err  error
}

// Append adds msgs to the end of the transcript, whatever it holds by now,
// and makes the session when there is none. It costs the new messages only.
// Messages with role system or developer are not stored. Calls on one session
// that wait for each other are written and synced as one. Metadata stays as
// it is.
//
// After an error, either state may stand: none of msgs is stored, or all.
func (st *Store) Append(ctx context.Context, id string, msgs ...Message) error {
	start := st.clock()
	rows, err := st.storable(msgs, 0)
	if err != nil {
		return st.called(ctx, "append to", id, start, wrap("append to", id, err))
	}
	s := st.session(id)
	own := &appending{rows: rows}
	s.mu.Lock()
	s.pending = append(s.pending, own)
	s.mu.Unlock()
	err = st.alone(ctx, s, id, func() error {
		if own.done {
			return own.err
		}
		return st.appendPending(ctx, s, id, own)
	})
	s.withdraw(own)
	return st.called(ctx, "append to", id, start, wrap("append to", id, err))
}

// withdraw takes a call that did not get to write out of those that wait.
func (s *session) withdraw(own *appending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = slices.DeleteFunc(s.pending, func(a *appending) bool { return a == own })
}

// appendPending writes what all waiting calls append, own's among them.
func (st *Store) appendPending(ctx context.Context, s *session, id string, own *appending) error {
	s.mu.Lock()
	batch := s.pending
	s.pending = nil
	s.mu.Unlock()
	var rows []Message
	for _, a := range batch {
		rows = append(rows, a.rows...)
	}
	if len(batch) > 1 { // the end of one call's context does not end the others
		ctx = context.WithoutCancel(ctx)
	}
	err := st.owned(ctx, s, id, mayMake, func(w *writing) error { return w.append(ctx, rows) })
	for _, a := range batch {
		a.done, a.err = true, err
	}
	return own.err
}

// append adds rows to the transcript, and metadata to a new session.
func (w *writing) append(ctx context.Context, rows []Message) error {
	meta := w.metadata()
	t, err := w.transcript(meta.md)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var last *transcript
	err = w.insist(t, func(t *transcript) error {
		if last != nil {
			if _, ok := w.begins(t.rows, slices.Concat(last.rows, rows)); ok {
				return nil // the other writer had seen rows
			}
		}
		last = t
		return w.add(t, rows)
	})
	if err != nil || !meta.none() {
		return err
	}
	content, err := w.st.born(w.id, Metadata{}, rows).file(w.st.opts.Portable)
	if err != nil {
		return fmt.Errorf("encode metadata: %w", err)
	}
	return w.replaceMetadata(&metadataFile{}, content)
}

// add writes rows after those of t.
func (w *writing) add(t *transcript, rows []Message) error {
	if t.known != nil && t.main.found && !t.known.alien {
		return w.extend(t, rows)
	}
	return w.writeRows(t, append(t.rows[:len(t.rows):len(t.rows)], rows...))
}
