package eventslog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
)

// Head describes an event without its data.
type Head struct {
	Next         Cursor    // continue here
	Rewritten    bool      // history before the cursor changed: forget all, the next heads begin anew; there is no event
	Line         int       // from 1; 0: not known, after Tail
	Offset, Size int64     // of the line without its end
	Time         time.Time // zero when there is none or it cannot be read; a time without an offset is in UTC
	Event        string
	Level        string
	SessionID    string
}

// Heads yields the heads of all events after from. When history before from
// changed, the first has Rewritten set and the others begin anew. A last line
// without an end counts when it is an event. An error comes last.
func (l *Log) Heads(ctx context.Context, from Cursor) iter.Seq2[Head, error] {
	return func(yield func(Head, error) bool) {
		f, err := l.open()
		if errors.Is(err, fs.ErrNotExist) {
			if from.Offset > 0 {
				yield(Head{Rewritten: true}, nil)
			}
			return
		}
		if err == nil {
			defer f.Close()
			_, _, err = l.pass(ctx, f, from, true, yield)
		}
		if err != nil {
			yield(Head{}, fmt.Errorf("read events: %w", err))
		}
	}
}

// pass yields the heads in f after from. When history changed, it yields a Head with
// Rewritten set and then all heads. It returns where it came, and whether yield wants more.
// Unless whole, a line without an end is left for the next pass.
func (l *Log) pass(ctx context.Context, f *os.File, from Cursor, whole bool, yield func(Head, error) bool) (Cursor, bool, error) {
	cur, more, err := l.walk(ctx, f, from, whole, yield)
	for errors.Is(err, ErrRewritten) {
		if !yield(Head{Rewritten: true}, nil) {
			return Cursor{}, false, nil
		}
		cur, more, err = l.walk(ctx, f, Cursor{}, whole, yield)
	}
	return cur, more, err
}

// walk is pass up to the place where it notices a change, if any.
func (l *Log) walk(ctx context.Context, f *os.File, from Cursor, whole bool, yield func(Head, error) bool) (Cursor, bool, error) {
	ls := l.events()
	if err := ls.check(ctx, f, from); err != nil {
		return from, true, err
	}
	cur := from
	for ln, err := range ls.all() {
		if err != nil {
			return cur, true, err
		}
		if !ln.ended && !whole {
			break
		}
		isEvent := ls.parse(ln)
		if isEvent || ln.ended {
			cur = ls.cursor()
		}
		if isEvent && !yield(ls.headOf(ln, cur), nil) {
			return cur, false, nil
		}
	}
	return cur, true, nil
}

// headOf returns the head of the event ln, which was parsed.
func (ls *events) headOf(ln line, next Cursor) Head {
	id, _ := ls.session()
	var at time.Time
	if t, _, err := pytime.Parse(text(ls.time())); err == nil {
		at = t
	}
	return Head{
		Next: next, Line: ln.number, Offset: ln.offset, Size: ln.size, Time: at,
		Event: text(ls.head.event), Level: text(ls.head.level), SessionID: id,
	}
}
