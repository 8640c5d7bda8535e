package sessionstore

import (
	"context"
	"math"
	"sort"

	"github.com/amplifier-go/sessionstorage/internal/store/index"
)

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
