package sessionstore

import (
	"context"
	"slices"
	"sort"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/store/index"
)

// source is one state of one transcript, of which parts are read. Messages and turns
// are counted from 1; turn 0 is what comes before the first.
type source interface {
	counts() (messages, turns int)
	// row and turn return where to read for message n, or for turn n, which is there.
	row(n int) index.Place
	turn(n int) index.Place
	// read hands the messages behind a place to visit until it returns false, each
	// with the place behind it. A message is valid during the call, see kept. The
	// message that begins the turn after last may be left out.
	read(ctx context.Context, from index.Place, last int, visit func(m Message, at index.Place) bool) error
	// kept returns a message that is read, valid after the call.
	kept(m Message) Message
}

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
		at = at.Behind(m.beginsTurn(), m.sum())
		places = append(places, at)
	}
	return places
}

func (v *inMemory) counts() (messages, turns int) {
	last := v.row(len(v.rows) + 1)
	return last.Rows, last.Turns
}

func (v *inMemory) row(n int) index.Place {
	if n == 1 {
		return index.Place{}
	}
	return v.places[n-2]
}

func (v *inMemory) turn(n int) index.Place {
	return v.row(1 + sort.Search(len(v.places), func(i int) bool { return v.places[i].Turns >= n }))
}

func (v *inMemory) read(ctx context.Context, from index.Place, _ int, visit func(m Message, at index.Place) bool) error {
	for i := from.Rows; i < len(v.rows); i++ {
		if err := ctx.Err(); err != nil || !visit(v.rows[i], v.places[i]) {
			return err
		}
	}
	return nil
}

func (v *inMemory) kept(m Message) Message { return m }
