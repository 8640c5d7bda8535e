package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// Append adds msgs to the end of the transcript, whatever it holds by now,
// and makes the session when there is none. It costs the new messages only.
// Beside other processes that append, nothing is lost: each adds to what the
// one before it wrote.
// Messages with role system or developer are not stored. Calls on one session
// that wait for each other are written and synced as one.
//
// Where metadata.json has the member turn_count, Append makes it the number of
// messages in the whole transcript that a person wrote (package slice has the
// rule: IsRealUser). It is written after the transcript, and only when it is
// another number: a message of a person costs a write of the metadata,
// others do not. When Append returns nil the count is right. A killed process or a
// power cut may leave out the messages of one call; the next Append counts them.
// All other metadata stays as it is, byte for byte.
//
// After an error, either state may stand: none of msgs is stored, or all. All
// are when only turn_count could not be written. The error Is [ErrConflict] when
// a program that takes no lock, as the older Python tools do not, wrote the session
// each of the 20 times that Append began anew.
func (st *Store) Append(ctx context.Context, id string, msgs ...Message) error {
	start := st.clock()
	rows, err := st.storable(msgs, 0)
	if err != nil {
		return st.called(ctx, "append to", id, start, wrap("append to", id, err))
	}
	err = st.appendRows(ctx, id, rows)
	return st.called(ctx, "append to", id, start, wrap("append to", id, err))
}

// appendRows appends rows by this call, or has another that waits do it.
func (st *Store) appendRows(ctx context.Context, id string, rows []Message) error {
	s, err := st.admit(ctx, id)
	if err != nil {
		return err
	}
	defer st.dismiss(s)
	own := &queuedAppend{rows: rows}
	s.appends.add(own)
	defer s.appends.remove(own)
	if err := st.enter(ctx, s); err != nil {
		return err
	}
	defer st.leave(s)
	if own.done {
		return own.err
	}
	return st.appendBatch(ctx, s, id)
}

// appendBatch writes what all calls in the queue append, the caller's among
// them. It takes them from the queue when the session is locked: until then
// each call can still end by its own context.
func (st *Store) appendBatch(ctx context.Context, s *session, id string) error {
	var batch []*queuedAppend
	err := st.withOwnership(ctx, s, id, openOrCreate, func(tx *transaction) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		batch = append(batch, s.appends.takeAll()...)
		return tx.append(batchContext(ctx, batch), batchRows(batch))
	})
	for _, a := range batch {
		a.done, a.err = true, err
	}
	return err
}

func batchRows(batch []*queuedAppend) (rows []Message) {
	for _, a := range batch {
		rows = append(rows, a.rows...)
	}
	return rows
}

// batchContext returns the context of the call that writes a batch: the end
// of one call's context does not end the others.
func batchContext(ctx context.Context, batch []*queuedAppend) context.Context {
	if len(batch) > 1 {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

// append adds rows to the transcript, and metadata to a new session. The
// metadata come after the transcript, whose messages they count.
func (tx *transaction) append(ctx context.Context, rows []Message) error {
	meta := tx.metadata()
	if meta.unread != nil {
		return meta.unread
	}
	t, err := tx.transcript(meta.md)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := tx.amendCount(&meta, t, rows); err != nil {
		return err
	}
	defer meta.amended.discard()
	var last *transcript
	err = tx.retry(t, func(t *transcript) error {
		if last != nil {
			if _, ok := tx.matchPrefix(t.rows, slices.Concat(last.rows, rows)); ok {
				return nil // the other writer had seen rows
			}
		}
		last = t
		err := tx.add(t, rows)
		if overtaken(err) {
			meta.amended.discard() // what the other writer left is read now, the backup too
		}
		return err
	})
	if err != nil {
		return err
	}
	if !meta.missing() {
		return tx.countTurns(&meta, rows)
	}
	content, err := tx.st.initialMetadata(tx.id, Metadata{}, tx.users()).file(tx.st.opts.Portable)
	if err != nil {
		return fmt.Errorf("encode metadata: %w", err)
	}
	return tx.replaceMetadata(&metadataFile{}, content)
}

// add writes rows after those of t.
func (tx *transaction) add(t *transcript, rows []Message) error {
	if t.cached != nil && t.main.found && !t.cached.nonCanonical {
		return tx.extend(t, rows)
	}
	return tx.writeRows(t, append(t.rows[:len(t.rows):len(t.rows)], rows...))
}

// retry runs do on the transcript t. While another writer comes between, it runs
// do again on what that writer left, maxRetries times at most. Then the error Is
// [ErrConflict].
func (tx *transaction) retry(t *transcript, do func(*transcript) error) error {
	err := do(t)
	for try := 0; try < maxRetries && overtaken(err); try++ {
		tx.s.invalidate()
		if errors.Is(err, errDisplaced) {
			if t = tx.displaced(); t == nil {
				return nil // it is gone: this call was the last to rename
			}
			err = do(t)
			continue
		}
		if t, err = tx.transcript(tx.metadata().md); err == nil {
			err = do(t)
		}
	}
	return tx.conflict(sessiondir.Transcript, err)
}

// displaced returns the transcript that this call displaced, with the stamp of
// the present file: what is made of it replaces that file. It returns nil when
// the displaced transcript is not whole any more.
func (tx *transaction) displaced() *transcript {
	theirs, main, err := tx.displacedFile(sessiondir.Transcript)
	if err != nil {
		return nil
	}
	rows := theirs.parseRows()
	if !theirs.sound() {
		return nil
	}
	return &transcript{main: main, rows: rows, from: fromMain}
}
