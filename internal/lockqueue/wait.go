package lockqueue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/filelock"
)

// Wait calls try, which must not block, until its error is not
// [filelock.ErrBusy], and returns that error. It waits in line when others do
// or when the lock is busy.
//
// Where the line has not moved for 10 s, the error is that of the last try. If
// ctx ends first, the error is filelock.ErrBusy and ctx's; a ctx that has
// ended already is its error alone, and try is not called.
func (l Line) Wait(ctx context.Context, try func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	poll := func() error { return filelock.Poll(ctx, l.queue.pace.limit, try) }
	empty, err := l.empty()
	if err != nil {
		return poll()
	}
	if empty {
		if err := try(); !errors.Is(err, filelock.ErrBusy) {
			return err
		}
	}
	gate, err := l.queue.enter(ctx, l.first)
	if err != nil {
		return ended(ctx)
	}
	defer l.queue.leave(l.first, gate)
	t, err := l.queue.made()
	if err != nil {
		return poll()
	}
	own, err := l.take(t)
	if err != nil {
		return poll()
	}
	w := waiter{line: l, tickets: t, own: own, moved: time.Now()}
	err = w.wait(ctx, try)
	t.drop(own)
	if errors.Is(err, errNoLine) {
		return poll()
	}
	return err
}

func ended(ctx context.Context) error {
	return fmt.Errorf("%w: %w", filelock.ErrBusy, ctx.Err())
}

// errNoLine tells that the line cannot be read, or has no room.
var errNoLine = errors.New("no line to wait in")

// take locks the byte after the highest one that is locked in the range.
func (l Line) take(t *tickets) (int64, error) {
	for at := l.first; at <= l.last(); {
		other, found, err := t.find(at, l.last())
		switch {
		case err != nil:
			return 0, err
		case found:
			at = other + 1
			continue
		}
		if taken, err := t.take(at); err != nil || taken {
			return at, err
		}
	}
	return 0, errNoLine
}

// A waiter has a ticket.
type waiter struct {
	line    Line
	tickets *tickets
	own     int64 // its ticket

	head  int64     // ticket of the first in line, when it was last looked at
	moved time.Time // when that changed
	tried time.Time // when the lock was last tried
}

// wait ends as [Line.Wait] does.
func (w *waiter) wait(ctx context.Context, try func() error) error {
	pace := w.line.queue.pace
	for {
		isFirst, err := w.look()
		if err != nil {
			return errNoLine
		}
		now := time.Now()
		last := now.Sub(w.moved) >= pace.limit
		if isFirst || last || now.Sub(w.moved) >= pace.patience && now.Sub(w.tried) >= pace.delay {
			w.tried = now
			if err := try(); last || !errors.Is(err, filelock.ErrBusy) {
				return err
			}
		}
		pause := pace.behind
		if isFirst {
			pause = time.Millisecond + rand.N(time.Millisecond)
		}
		if !filelock.Sleep(ctx, pause) {
			return ended(ctx)
		}
	}
}

// look reports whether nobody is nearer to the lock, and notes when the line
// moved. What happens just before the limit counts as the end of another
// waiter's limit, not as a move.
func (w *waiter) look() (isFirst bool, err error) {
	head, found, err := w.tickets.lowest(w.line.first, w.own-1)
	if err != nil {
		return false, err
	}
	if !found {
		head = w.own
	}
	pace := w.line.queue.pace
	if now := time.Now(); head != w.head && now.Sub(w.moved) < pace.limit-pace.limit/100 {
		w.head, w.moved = head, now
	}
	return !found, nil
}
