package lock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/zeebo/xxh3"
)

// pace holds the pauses and limits of a waiter.
type pace struct {
	limit    time.Duration // the longest time without a move of the line
	behind   time.Duration // pause of a waiter that is not the first
	patience time.Duration // time without a move after which a waiter that is not the first tries too
	delay    time.Duration // pause between such tries
	checked  time.Duration // how long the ticket file is assumed to have its name
}

var usualPace = pace{
	limit: 10 * time.Second, behind: 4 * time.Millisecond,
	patience: time.Second, delay: 250 * time.Millisecond,
	checked: time.Second,
}

// A Queue holds the lines of many locks in one ticket file, which the first waiter makes.
// It has one descriptor, whatever the number of waiters.
type Queue struct {
	path string                   // of the ticket file
	open func() (*os.File, error) // opens it for reading and writing, and makes it
	pace pace

	mu      sync.Mutex // guards the fields below
	closed  bool
	tickets *tickets  // nil: not open
	failure error     // the reason why it cannot be opened
	next    time.Time // the time until which the two fields above are assumed to be right
	gates   map[int64]*gate
}

// NewQueue returns the queue of the ticket file at path, which open opens.
func NewQueue(path string, open func() (*os.File, error)) *Queue {
	return &Queue{path: path, open: open, pace: usualPace, gates: map[int64]*gate{}}
}

// Close closes the ticket file. No caller may wait any more.
func (q *Queue) Close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	if q.tickets == nil {
		return nil
	}
	err := q.tickets.close()
	q.tickets = nil
	return err
}

// Line returns the line of the lock of that name. All processes that use one
// ticket file must give a lock the same name.
func (q *Queue) Line(name string) Line {
	return Line{queue: q, first: int64(xxh3.HashString(name)>>33) << rangeBits}
}

// rangeBits is the size of a line's range: at 1,000 tickets a second it would
// be used up after seven weeks in which the line was never empty.
const rangeBits = 32

// A Line is the line of waiters for one lock.
type Line struct {
	queue *Queue
	first int64 // byte of its range
}

func (l Line) last() int64 { return l.first + 1<<rangeBits - 1 }

// empty reports whether the line has no waiters. There is no ticket file when no caller has
// ever waited.
func (l Line) empty() (bool, error) {
	q := l.queue
	q.mu.Lock()
	var t *tickets
	var err error
	switch gate := q.gates[l.first]; { // of goroutines of this queue that are in the line or wait for it
	case gate != nil:
		q.mu.Unlock()
		return false, nil
	case q.believed():
		t, err = q.tickets, q.failure
	default:
		if _, absent := os.Lstat(q.path); !errors.Is(absent, fs.ErrNotExist) {
			t, err = q.reopen()
		}
	}
	q.mu.Unlock()
	if t == nil || err != nil {
		return err == nil, err
	}
	_, found, err := t.find(l.first, l.last())
	return !found, err
}

// made returns the ticket file, and makes it when there is none.
func (q *Queue) made() (*tickets, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.believed() {
		return q.tickets, q.failure
	}
	return q.reopen()
}

// believed reports whether the open file, or the reason why none is open, is still valid.
// A file that has lost its name is given up; waiters with a ticket in it keep it until
// the end of the wait. The caller holds the mutex.
func (q *Queue) believed() bool {
	switch now := time.Now(); {
	case q.closed:
		q.failure = fs.ErrClosed
		return true
	case !supported:
		q.failure = errors.ErrUnsupported
		return true
	case now.Before(q.next):
		return true
	case q.tickets != nil && q.tickets.isAt(q.path):
		q.next = now.Add(q.pace.checked)
		return true
	}
	q.tickets, q.failure = nil, nil
	return false
}

func (q *Queue) reopen() (*tickets, error) {
	file, err := q.open()
	if err == nil {
		q.tickets, err = newTickets(file)
	}
	q.failure, q.next = err, time.Now().Add(q.pace.checked)
	return q.tickets, q.failure
}

// A gate lets one goroutine of a queue at a time into a line.
type gate struct {
	turn  chan struct{} // holds a token while a goroutine is in the line
	users int           // number of goroutines in the line or at the gate; guarded by the queue's mutex
}

// enter waits at the gate of a line.
func (q *Queue) enter(ctx context.Context, first int64) (*gate, error) {
	q.mu.Lock()
	g := q.gates[first]
	if g == nil {
		g = &gate{turn: make(chan struct{}, 1)}
		q.gates[first] = g
	}
	g.users++
	q.mu.Unlock()
	select {
	case g.turn <- struct{}{}:
		return g, nil
	case <-ctx.Done():
		q.drop(first, g)
		return nil, ctx.Err()
	}
}

// leave lets the next goroutine of this queue into the line.
func (q *Queue) leave(first int64, g *gate) {
	<-g.turn
	q.drop(first, g)
}

func (q *Queue) drop(first int64, g *gate) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if g.users--; g.users == 0 {
		delete(q.gates, first)
	}
}

// Wait calls try, which must not block, until its error is not [ErrBusy], and returns
// that error. It waits in line when there are other waiters or when the lock is busy.
//
// When the line has not moved for 10 s, Wait returns the error of the last try. If ctx
// ends first, the error is ErrBusy and ctx's. If ctx has ended already, Wait returns its
// error alone and does not call try.
func (l Line) Wait(ctx context.Context, try func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	poll := func() error { return Poll(ctx, l.queue.pace.limit, try) }
	empty, err := l.empty()
	if err != nil {
		return poll()
	}
	if empty {
		if err := try(); !errors.Is(err, ErrBusy) {
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
	return fmt.Errorf("%w: %w", ErrBusy, ctx.Err())
}

// errNoLine is returned when the line cannot be read, or has no room.
var errNoLine = errors.New("no line to wait in")

// take locks the byte after the highest locked byte in the range.
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

	head  int64     // ticket of the first in line, at the last look
	moved time.Time // the time of its last change
	tried time.Time // the time of the last try of the lock
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
			if err := try(); last || !errors.Is(err, ErrBusy) {
				return err
			}
		}
		pause := pace.behind
		if isFirst {
			pause = time.Millisecond + rand.N(time.Millisecond)
		}
		if !Sleep(ctx, pause) {
			return ended(ctx)
		}
	}
}

// look reports whether no waiter is nearer to the lock, and notes the time when the line
// moved. A change just before the limit counts as the end of another waiter's limit, not
// as a move.
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
