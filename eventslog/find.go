package eventslog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
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
func (l *Log) At(ctx context.Context, n int) (h Head, err error) {
	f, err := l.open()
	if errors.Is(err, fs.ErrNotExist) {
		err = noEvent(n, 0)
	}
	if err == nil {
		h, err = l.nth(ctx, f, n)
		for errors.Is(err, ErrRewritten) {
			h, err = l.nth(ctx, f, n)
		}
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return Head{}, fmt.Errorf("read event: %w", err)
	}
	return h, nil
}

// nth returns the head of event n of f. The error Is [ErrRewritten] when the log changed
// in between.
func (l *Log) nth(ctx context.Context, f *os.File, n int) (Head, error) {
	ls := l.events()
	if err := ls.check(ctx, f, Cursor{}); err != nil {
		return Head{}, err
	}
	found := 0
	for ln, err := range ls.all() {
		if err != nil {
			return Head{}, err
		}
		if !ls.parse(ln) {
			continue
		}
		if found++; found == n {
			return ls.headOf(ln, ls.cursor()), nil
		}
	}
	return Head{}, noEvent(n, found)
}

// noEvent returns the error for a missing event n.
func noEvent(n, all int) error {
	return limits.Errorf(fs.ErrNotExist, "event %d of %d: there is no such event", n, all)
}

// Tail returns the heads of the last n events in their order. It reads the end of the log,
// and does not know the numbers of its lines. They are 0, also in heads that are read on
// from one of these.
func (l *Log) Tail(ctx context.Context, n int) ([]Head, error) {
	f, err := l.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read last events: %w", err)
	}
	heads, err := l.tail(ctx, f, n)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read last events: %w", err)
	}
	return heads, nil
}

// tail reads longer and longer parts before the end of f, until one has the events.
func (l *Log) tail(ctx context.Context, f *os.File, n int) ([]Head, error) {
	fi, err := f.Stat()
	if err != nil || n <= 0 {
		return nil, err
	}
	ls := l.events()
	for size := int64(tailSize); ; size *= 4 {
		start := fi.Size() - size
		offsets, err := eventsBehind(ctx, ls, f, start)
		if err == nil && len(offsets) < n && start > 0 {
			continue
		}
		if err != nil || len(offsets) == 0 {
			return nil, err
		}
		return headsFrom(ctx, ls, f, offsets[max(0, len(offsets)-n)], n)
	}
}

// tailSize is the size of the first part that Tail reads.
const tailSize = 64 << 10

// eventsBehind returns the offsets of the events that begin behind start.
func eventsBehind(ctx context.Context, ls *events, f *os.File, start int64) (offsets []int64, err error) {
	err = ls.begin(ctx, f, Cursor{Offset: start})
	if err == nil && start > 0 { // a line may begin before start
		err = ls.begin(ctx, f, Cursor{Offset: start + ls.ahead(math.MaxInt64)})
	}
	if err != nil {
		return nil, err
	}
	for ln, err := range ls.all() {
		if err != nil {
			return nil, err
		}
		if ls.parse(ln) {
			offsets = append(offsets, ln.offset)
		}
	}
	return offsets, nil
}

// headsFrom returns the heads of the n events from an offset on.
func headsFrom(ctx context.Context, ls *events, f *os.File, offset int64, n int) (heads []Head, err error) {
	if err := ls.begin(ctx, f, Cursor{Offset: offset, Line: -1}); err != nil {
		return nil, err
	}
	for ln, err := range ls.all() {
		if err != nil {
			return nil, err
		}
		if ls.parse(ln) {
			heads = append(heads, ls.headOf(ln, ls.cursor()))
		}
		if len(heads) == n {
			break
		}
	}
	return heads, nil
}

// Open returns the line of the event h, without its end, as a stream. The
// error Is [ErrRewritten] when the log changed before the end of the event.
func (l *Log) Open(ctx context.Context, h Head) (io.ReadCloser, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := l.open()
	if err != nil {
		return nil, fmt.Errorf("open event: %w", err)
	}
	if err = l.events().check(ctx, f, h.Next); err == nil && h.Size <= 0 {
		err = ErrRewritten
	}
	if err != nil {
		return nil, fmt.Errorf("open event: %w", errors.Join(err, f.Close()))
	}
	return &stream{Reader: io.NewSectionReader(f, h.Offset, h.Size), file: f}, nil
}

// stream is a part of a file, which it closes.
type stream struct {
	io.Reader
	file *os.File
}

func (s *stream) Close() error { return s.file.Close() }
