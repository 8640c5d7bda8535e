package sessionstore

import (
	"context"
	"math"
	"slices"
	"sort"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/store/index"
)

// source is one state of one transcript, of which parts are read. Messages and turns
// are counted from 1; turn 0 is what comes before the first.
type source interface {
	counts() (messages, turns int)
	// read hands the messages of a span to visit until it returns false, each with
	// the place behind it.
	read(ctx context.Context, s span, visit func(m Message, at index.Place) bool) error
}

// span says which messages are read: from the first on that is neither before message
// row nor before a turn, which both are there, to the end of the turn last.
type span struct{ row, turn, last int }

// onward is the span from a message to the end.
func onward(row int) span { return span{row: row, last: math.MaxInt} }

// begun reports whether the message before a place is in s or behind it.
func (s span) begun(at index.Place) bool { return at.Rows >= s.row && at.Turns >= s.turn }

// withSource runs do with the transcript of a session: by way of the index if it is
// large and sound, else with all of it in memory. The error is the error of do, and
// the damage. do runs again when the transcript is not what the index says.
func (st *Store) withSource(ctx context.Context, id string, do func(source) error) (err error) {
	if err := st.begin(ctx); err != nil {
		return err
	}
	defer st.done()
	dir, err := st.openDir(id)
	if err != nil {
		return err
	}
	defer func() { err = joinErrors(err, dir.Close()) }()
	s := st.cache.call(id)
	defer st.cache.end(s)
	if st.getTranscript(s, dir) == nil {
		if done, err := st.byIndex(ctx, dir, id, do); done {
			return err
		}
	}
	t := st.transcriptOf(s, dir, id, readMetadata(dir, id, st.opts.Now).md)
	if err := ctx.Err(); err != nil {
		return err
	}
	return joinErrors(do(sourceOf(s, &t)), t.damage)
}

// byIndex runs do by way of the index. done is false when the transcript must be
// read as a whole, since it is small, or damaged, or changes all the time. When
// a block is not what the index says, the index is made anew.
func (st *Store) byIndex(ctx context.Context, dir *sessiondir.Dir, id string, do func(source) error) (done bool, err error) {
	at, err := dir.Stat(sessiondir.Transcript)
	if err != nil || at.Size < index.LargeFrom || mayBeAppending(dir) {
		return false, nil
	}
	for _, trusted := range [...]bool{true, false} {
		t, err := st.openIndexed(ctx, dir, id, trusted)
		if err != nil {
			return ctx.Err() != nil, err
		}
		err = joinErrors(do(t), t.file.Close())
		if !t.failed || ctx.Err() != nil {
			return true, err
		}
	}
	return false, nil
}

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

// addPlaces appends to the places behind each of some messages those behind the
// messages that follow.
func addPlaces(places []index.Place, rows []Message) []index.Place {
	var at index.Place
	if n := len(places); n > 0 {
		at = places[n-1]
	}
	places = slices.Grow(places, len(rows))
	for _, m := range rows {
		at.Pass(m.beginsTurn(), m.sum())
		places = append(places, at)
	}
	return places
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
