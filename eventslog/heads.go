package eventslog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
)

// Head is what is known of an event without its data.
type Head struct {
	Next         Cursor    // continue here
	Rewritten    bool      // history before the cursor changed: forget all, what follows begins anew; there is no event
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

// pass yields the heads in f after from, and all of them behind one that has
// Rewritten set when history changed. It returns where it came, and whether
// yield wants more. Unless whole, a line without an end is left for the next
// pass.
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
	rs, err := newRecords(f, from, l.newer)
	if err != nil {
		return from, true, err
	}
	if now := rs.cursor(); now.Offset != from.Offset || now.Sum != from.Sum {
		return from, true, ErrRewritten
	}
	rs.check = make([]byte, windowSize)
	for cur := from; ; {
		rec, err := rs.next(ctx)
		if errors.Is(err, io.EOF) || err == nil && !rec.ended && !whole {
			return cur, true, nil
		}
		if err != nil {
			return cur, true, err
		}
		if !l.event(&rs.scan) {
			if rec.ended {
				cur = rs.cursor()
			}
			continue
		}
		cur = rs.cursor()
		if !yield(rs.scan.headOf(rec, cur), nil) {
			return cur, false, nil
		}
	}
}

// event reports whether the line that s has read counts.
func (l *Log) event(s *scanner) bool {
	if !s.valid() || !l.newer {
		return s.valid()
	}
	h := &s.head
	if h.event.kind != pyjson.String || !h.event.truthy() {
		return false
	}
	if h.data.kind != pyjson.Invalid && h.data.kind != pyjson.Object {
		return false
	}
	id, ok := s.session()
	return ok && (id == "" || id == l.sessionID)
}

// session returns the id of the event's session, which may be empty. It is
// false when the id is no string or two of them differ: in the newer dialect
// the data may have one, too.
func (s *scanner) session() (id string, ok bool) {
	if !s.newer {
		return s.head.session.text(), true
	}
	for _, v := range [...]*value{&s.head.session, &s.head.inner} {
		if v.kind == pyjson.Invalid || v.kind == pyjson.Null {
			continue
		}
		text := v.text()
		if v.kind != pyjson.String || id != "" && text != "" && id != text {
			return "", false
		}
		if text != "" {
			id = text
		}
	}
	return id, true
}

// headOf returns the head of the event that s has read.
func (s *scanner) headOf(rec record, next Cursor) Head {
	id, _ := s.session()
	h := Head{
		Next: next, Line: rec.line, Offset: rec.offset, Size: rec.size,
		Event: s.head.event.text(), Level: s.head.level.text(), SessionID: id,
	}
	at := s.time()
	if at.kind == pyjson.String {
		if t, _, err := pytime.Parse(at.text()); err == nil {
			h.Time = t
		}
	}
	return h
}

// time returns the member that tells the event's time.
func (s *scanner) time() *value {
	first, second := &s.head.ts, &s.head.timestamp
	if s.newer {
		first, second = second, first
	}
	if first.truthy() {
		return first
	}
	return second
}
