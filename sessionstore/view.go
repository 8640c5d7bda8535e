package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/store/index"
)

// View is one state of one transcript, for reading any part of it without the rest.
// Messages and turns are counted from 1. Turns are counted as in package slice: each user
// message without a result of a tool begins a turn. Appends, saves and rewinds after
// [Store.View] are not seen. The methods may be called by many goroutines.
type View struct {
	st *Store
	id string

	mu    sync.Mutex // guards the fields below
	src   source
	large *openTranscript // src where the transcript is read by way of the index; nil: it is in memory
}

// View opens the transcript of a session. The caller must close the view, and soon:
// while the file of a large transcript is open, an append may wait for 20 ms, and then
// writes the whole transcript instead of the new lines.
//
// Of a transcript of more than 1 MiB only the requested messages are read, if the index
// in the sessions directory has their places. The first View makes the index and reads
// the transcript once, and so does the first View after another program changed the
// transcript; after appends of this library, View reads only the appended messages. A
// smaller transcript is read as a whole. Messages are chosen and recovered as by
// [Store.Load].
//
// With an error that Is [ErrCorrupt] View returns a view of the messages that could
// be read.
//
// View detects changes by other programs from the size, the times and the inode of the
// file. Where the system has neither the inode nor the time of its change, as on Windows,
// an edit that keeps the size and sets the time back goes unnoticed: the numbers of
// messages and turns are then those before the edit. Every part that is read is compared
// with its hash, so a message is never a mixture.
func (st *Store) View(ctx context.Context, id string) (v *View, err error) {
	defer func() { err = wrap("view", id, err) }()
	if err := st.admit(ctx); err != nil {
		return nil, err
	}
	defer st.calls.Done()
	dir, err := st.openDir(id)
	if err != nil {
		return nil, err
	}
	v = &View{st: st, id: id}
	s := st.cache.call(id)
	defer st.cache.end(s)
	if st.getTranscript(s, dir) == nil {
		if v.large, err = st.openLarge(ctx, dir, id); err != nil {
			return nil, joinErrors(err, dir.Close())
		}
	}
	if v.large != nil {
		v.src = v.large
		return v, nil
	}
	t := st.transcriptOf(ctx, s, dir, id, st.metadataOf(s, dir, id).md)
	if err := joinErrors(ctx.Err(), dir.Close()); err != nil {
		return nil, err
	}
	v.src = sourceOf(s, &t)
	return v, t.damage
}

// openLarge opens a transcript that is read by way of the index. It returns nil where the
// transcript must be read as a whole: it is small or damaged, or it changes all the time.
func (st *Store) openLarge(ctx context.Context, dir *sessiondir.Dir, id string) (*openTranscript, error) {
	at, err := dir.Stat(sessiondir.Transcript)
	if err != nil || at.Size < index.LargeFrom || mayBeAppending(dir) {
		return nil, nil
	}
	t, err := st.openIndexed(ctx, dir, id)
	if err != nil {
		return nil, ctx.Err()
	}
	return t, nil
}

// Close closes the transcript's file. A second Close does nothing.
func (v *View) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.src = nil
	if v.large == nil {
		return nil
	}
	err := joinErrors(v.large.file.Close(), v.large.dir.Close())
	v.large = nil
	return wrap("close view of", v.id, err)
}

// Len returns the number of messages, 0 after Close.
func (v *View) Len() int {
	messages, _ := v.counts()
	return messages
}

// Turns returns the number of turns, 0 after Close.
func (v *View) Turns() int {
	_, turns := v.counts()
	return turns
}

func (v *View) counts() (messages, turns int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.src == nil {
		return 0, 0
	}
	return v.src.counts()
}

// Range returns n messages from message first on, or fewer at the end.
func (v *View) Range(ctx context.Context, first, n int) (rows []Message, err error) {
	if first < 1 || n < 0 {
		return nil, wrap("read", v.id, fmt.Errorf("%d messages from message %d on: both must be positive", n, first))
	}
	return v.read(ctx, onward(first), n)
}

// Turn returns the messages of a turn. The error Is [ErrNotFound] when there is no such
// turn.
func (v *View) Turn(ctx context.Context, turn int) ([]Message, error) {
	if err := v.hasTurn(turn); err != nil {
		return nil, err
	}
	return v.read(ctx, span{turn: turn, last: turn}, math.MaxInt)
}

// TurnAt returns the turn of message n: 0 before the first turn. The error Is
// [ErrNotFound] when there is no such message.
func (v *View) TurnAt(ctx context.Context, n int) (int, error) {
	if all := v.Len(); n < 1 || n > all {
		return 0, wrap("read", v.id, limits.Errorf(ErrNotFound, "message %d of %d: there is no such message", n, all))
	}
	at, err := v.place(ctx, onward(n))
	return at.Turns, err
}

// Start returns the number of the message that begins a turn. The error Is
// [ErrNotFound] when there is no such turn.
func (v *View) Start(ctx context.Context, turn int) (int, error) {
	if err := v.hasTurn(turn); err != nil {
		return 0, err
	}
	at, err := v.place(ctx, span{turn: turn, last: turn})
	return at.Rows, err
}

func (v *View) hasTurn(turn int) error {
	if all := v.Turns(); turn < 1 || turn > all {
		return wrap("read", v.id, limits.Errorf(ErrNotFound, "turn %d of %d: there is no such turn", turn, all))
	}
	return nil
}

// read returns the first n messages of a span.
func (v *View) read(ctx context.Context, s span, n int) (rows []Message, err error) {
	if n == 0 {
		return nil, nil
	}
	err = v.do(ctx, func(src source) error {
		rows = nil
		if messages, _ := src.counts(); s.row > messages {
			return nil
		}
		return src.read(ctx, s, func(m Message, _ index.Place) bool {
			rows = append(rows, m)
			return len(rows) < n
		})
	})
	return slices.Clip(rows), err
}

// place returns the place behind the first message of a span.
func (v *View) place(ctx context.Context, s span) (first index.Place, err error) {
	err = v.do(ctx, func(src source) error {
		return src.read(ctx, s, func(_ Message, at index.Place) bool {
			first = at
			return false
		})
	})
	return first, err
}

// do runs read, and once more when the index was not right about the transcript.
func (v *View) do(ctx context.Context, read func(source) error) (err error) {
	defer func() { err = wrap("read", v.id, err) }()
	if err := v.st.admit(ctx); err != nil {
		return err
	}
	defer v.st.calls.Done()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.src == nil {
		return errViewClosed
	}
	err = read(v.src)
	if v.large == nil || !v.large.failed || ctx.Err() != nil {
		return err
	}
	if err := v.reindex(ctx); err != nil {
		return err
	}
	if err = read(v.src); errors.Is(err, index.ErrOther) {
		err = fmt.Errorf("%w: %w", ErrConflict, err)
	}
	return err
}

var errViewClosed = limits.Errorf(ErrClosed, "the view is closed")

// reindex makes the index anew from the file that is open. The error Is [ErrConflict]
// when the number of messages or of turns has changed: a program wrote into the file.
func (v *View) reindex(ctx context.Context) error {
	messages, turns := v.large.counts()
	err := v.st.reindex(ctx, v.id, v.large)
	if errors.Is(err, errUnindexed) {
		err = fmt.Errorf("%w: %w", ErrConflict, err)
	}
	if err != nil {
		return err
	}
	if m, t := v.large.counts(); m != messages || t != turns {
		return ErrConflict
	}
	return nil
}

// source is one state of one transcript, for reading parts of it. Messages and turns are
// counted from 1; turn 0 holds the messages before the first turn.
type source interface {
	counts() (messages, turns int)
	// read hands the messages of a span to visit until it returns false, each with
	// the place behind it.
	read(ctx context.Context, s span, visit func(m Message, at index.Place) bool) error
}

// span names the messages to read: from the first message that is neither before message
// row nor before a turn, both of which must exist, to the end of the turn last.
type span struct{ row, turn, last int }

// onward is the span from a message to the end.
func onward(row int) span { return span{row: row, last: math.MaxInt} }

// begun reports whether the message before a place is in s or behind it.
func (s span) begun(at index.Place) bool { return at.Rows >= s.row && at.Turns >= s.turn }

// inMemory is a source of messages that were read as a whole.
type inMemory struct {
	rows   []Message
	places []index.Place // behind each of rows
}

// sourceOf returns a source of t. Its places are cached with the transcript, and from then
// on an append adds its own.
func sourceOf(s *session, t *transcript) *inMemory {
	v := &inMemory{rows: t.rows}
	if t.cached != nil {
		v.places = t.cached.places
	}
	if v.places == nil {
		v.places = addPlaces([]index.Place{}, v.rows)
		if t.cached != nil {
			s.putPlaces(t.cached, v.places)
		}
	}
	return v
}

func (v *inMemory) counts() (messages, turns int) {
	if n := len(v.places); n > 0 {
		return n, v.places[n-1].Turns
	}
	return 0, 0
}

func (v *inMemory) read(ctx context.Context, s span, visit func(m Message, at index.Place) bool) error {
	first := sort.Search(len(v.places), func(i int) bool { return s.begun(v.places[i]) })
	for i := first; i < len(v.rows) && v.places[i].Turns <= s.last; i++ {
		if err := ctx.Err(); err != nil || !visit(v.rows[i], v.places[i]) {
			return err
		}
	}
	return nil
}
