package eventslog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/amplifier-go/sessionstorage/internal/format/limits"
)

// At returns the head of event n of the log, counted from 1. It counts the events that
// [Log.Heads] yields, so damaged lines have no number. The error Is [fs.ErrNotExist] when
// the log has fewer events, or is missing.
//
// At reads the log from its beginning to the event and keeps nothing for the next call, in
// memory or in a file. Any tool may append to a log at any time, without a lock. So an
// index in a file would have to be compared with all bytes that it knows, at each call
// while a session runs, and would have to go with the session. A caller that comes back
// keeps the Head.Next of some events and goes on behind the nearest one with [Log.Heads].
func (l *Log) At(ctx context.Context, n int) (Head, error) {
	h, err := l.at(ctx, n)
	if err != nil {
		return Head{}, fmt.Errorf("read event: %w", err)
	}
	return h, nil
}

func (l *Log) at(ctx context.Context, n int) (h Head, err error) {
	f, err := l.open()
	if errors.Is(err, fs.ErrNotExist) {
		return Head{}, noEvent(n, 0)
	}
	if err != nil {
		return Head{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for {
		h, err = l.count(ctx, f, n)
		if !errors.Is(err, ErrRewritten) {
			return h, err
		}
	}
}

// count returns the head of event n of f. The error Is [ErrRewritten] when the log changed
// in between.
func (l *Log) count(ctx context.Context, f *os.File, n int) (Head, error) {
	ls := l.events(true)
	if err := ls.check(ctx, f, Cursor{}); err != nil {
		return Head{}, err
	}
	for found := 0; ; {
		ln, err := ls.event()
		if errors.Is(err, io.EOF) {
			return Head{}, noEvent(n, found)
		}
		if err != nil {
			return Head{}, err
		}
		if found++; found == n {
			return ls.headOf(ln, ls.cursor()), nil
		}
	}
}

// noEvent returns the error for a missing event n.
func noEvent(n, all int) error {
	return limits.Errorf(fs.ErrNotExist, "event %d of %d: there is no such event", n, all)
}
