package eventslog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"time"
)

const (
	pollEvery = 50 * time.Millisecond
	// mtimeGranularity is the age from which on changes of a file show in its time.
	mtimeGranularity = 2 * time.Second
)

// Follow yields the heads of all events after from, each once, and waits for
// further ones. A line counts when its end is there. When history before the
// place that was reached changed, also while the program did not run, a Head
// with Rewritten set comes, and then all events from the beginning.
//
// It ends with an error: ctx's, or [fs.ErrClosed] when the log is closed.
func (l *Log) Follow(ctx context.Context, from Cursor) iter.Seq2[Head, error] {
	return func(yield func(Head, error) bool) {
		more, err := l.follow(ctx, from, yield)
		if more {
			yield(Head{}, fmt.Errorf("follow events: %w", err))
		}
	}
}

// follow returns whether yield wants more, and then an error.
func (l *Log) follow(ctx context.Context, cur Cursor, yield func(Head, error) bool) (more bool, err error) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	var seen os.FileInfo
	for {
		if cur, seen, more, err = l.look(ctx, cur, seen, yield); !more || err != nil {
			return more, err
		}
		select {
		case <-ctx.Done():
			return true, ctx.Err()
		case <-l.done:
			return true, errClosed
		case <-tick.C:
		}
	}
}

// look yields the events since the file was seen.
func (l *Log) look(ctx context.Context, cur Cursor, seen os.FileInfo, yield func(Head, error) bool) (Cursor, os.FileInfo, bool, error) {
	if fi, err := os.Stat(l.path()); err == nil && unchanged(seen, fi) {
		return cur, seen, true, nil
	}
	f, err := l.open()
	if errors.Is(err, fs.ErrNotExist) {
		if cur.Offset > 0 && !yield(Head{Rewritten: true}, nil) {
			return Cursor{}, nil, false, nil
		}
		return Cursor{}, nil, true, nil
	}
	if err != nil {
		return cur, nil, true, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return cur, nil, true, err
	}
	cur, more, err := l.pass(ctx, f, cur, false, yield)
	return cur, fi, more, err
}

// unchanged reports whether now is the file that was seen, and would be
// younger had it been written since.
func unchanged(seen, now os.FileInfo) bool {
	return seen != nil && os.SameFile(seen, now) && seen.Size() == now.Size() &&
		seen.ModTime().Equal(now.ModTime()) && time.Since(now.ModTime()) > mtimeGranularity
}
