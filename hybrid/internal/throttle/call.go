package throttle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/jitter"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// firstAnswer bounds the wait of a piece of work for the remote's first answer to it.
type firstAnswer struct {
	budget *Budget
	wait   time.Duration
	once   sync.Once
	began  time.Time // the first wait
	came   atomic.Bool
}

type firstKey struct{}

// expire ends a try when the wait for the first answer has taken too long.
func (f *firstAnswer) expire(end context.CancelCauseFunc) *time.Timer {
	f.once.Do(func() { f.began = time.Now() })
	return time.AfterFunc(time.Until(f.began.Add(f.wait)), func() {
		f.budget.unheard(f.began, remote.NoAnswer(f.wait))
		end(remote.NoAnswer(f.wait))
	})
}

// Within returns ctx for work that waits no longer than a time for the remote's first
// answer to its calls. When the time is over they fail with [remote.ErrUnreachable], and the
// remote is away.
func (b *Budget) Within(ctx context.Context, wait time.Duration) context.Context {
	return context.WithValue(ctx, firstKey{}, &firstAnswer{budget: b, wait: wait})
}

// Waiting returns ctx for a wait of work for other work, which may be waiting for the
// remote: it ends when the remote has answered no call for as long as the work waits for
// its first answer. stop is called after the wait.
func Waiting(ctx context.Context) (_ context.Context, stop func()) {
	f, ok := ctx.Value(firstKey{}).(*firstAnswer)
	if !ok {
		return ctx, func() {}
	}
	start := time.Now()
	ctx, end := context.WithCancelCause(ctx)
	if err := f.budget.Away(); err != nil {
		end(err)
	}
	late := time.AfterFunc(f.wait, func() {
		if err := remote.NoAnswer(f.wait); f.budget.unheard(start, err) {
			end(err)
		}
	})
	return ctx, func() { late.Stop(); end(nil) }
}

// call is a try of a call of a method of a remote.
type call struct {
	try
	calls
	is    kind
	since time.Time // of the first try
	tries int       // of the call, with this one
	ctx   context.Context
	end   context.CancelCauseFunc
	first *firstAnswer // that this try may bring; nil: it came, or no work waits for it
	late  *time.Timer  // ends the try when first was waited for long enough
	idle  *time.Timer  // ends the try when nothing moves
	moved atomic.Bool  // a part of the request or the answer, as the remote told
	held  atomic.Bool  // the caller has a row of the list: the remote is not waited for
}

// kind is what is known of a call before it is made.
type kind struct {
	units   float64       // its expected cost
	quiet   time.Duration // how long it may take without a part that is told of
	changes bool          // whether it stores or removes
	swaps   bool          // whether making it twice differs from making it once
}

// calls are the calls of one user of a budget.
type calls struct {
	budget  *Budget
	observe func(context.Context, remote.Request) // nil: none
}

// repeatFor is how long after its first try a change is made again. Later, another device may
// have removed what it stores.
const repeatFor = time.Hour

var errRepeatLate = fmt.Errorf("%w: a change began more than %v ago, and is not made again", remote.ErrUnreachable, repeatFor)

// do makes a call, and makes it again as long as that may help. A swap is not made again when
// it is unknown whether it was done.
func (t *calls) do(ctx context.Context, k kind, made func(context.Context, *call) error) error {
	since := time.Now().Round(0) // other clocks stand still while the machine sleeps
	for tries := 1; ; tries++ {
		c := &call{calls: *t, is: k, since: since, tries: tries, try: try{units: k.units}}
		trouble, err := c.makes(ctx, made)
		tries = c.tries
		if trouble == nil || tries >= maxTries || k.swaps && (trouble.Kind != remote.Throttled || errors.Is(err, remote.ErrUnknown)) {
			return err
		}
	}
}

// makes makes the call once when the budget admits it. With the error it returns the
// trouble that may be gone at another try; nil: there is none.
func (c *call) makes(ctx context.Context, made func(context.Context, *call) error) (*remote.Unreachable, error) {
	c.ctx, c.end = context.WithCancelCause(ctx)
	defer c.end(nil)
	if f, ok := ctx.Value(firstKey{}).(*firstAnswer); ok && !f.came.Load() {
		c.first, c.late = f, f.expire(c.end)
		defer c.late.Stop()
	}
	if err := c.budget.admit(c.ctx, c.units); err != nil {
		return nil, err
	}
	if c.is.changes && c.tries > 1 && time.Now().Round(0).Sub(c.since) > repeatFor {
		c.budget.learn(&c.try, context.Canceled, nil) // it is not made
		return nil, errRepeatLate
	}
	c.wait()
	c.listen()
	defer c.idle.Stop()
	told := remote.Observed(c.ctx, func(r remote.Request) {
		c.budget.spend(r.Units)
		remote.Observe(ctx, r)
		if c.observe != nil {
			c.observe(ctx, r)
		}
	})
	err := made(remote.Moving(remote.Listened(told, c.part), c.move), c)
	outcome, trouble, silence := err, troubleOf(err), remote.NoAnswer(0)
	switch {
	case c.ctx.Err() != nil && (trouble != nil || errors.Is(err, c.ctx.Err()) || errors.Is(err, context.Cause(c.ctx))):
		if outcome, trouble, err = context.Canceled, nil, c.whyEnded(); c.is.swaps && ctx.Err() == nil { // its caller goes on
			err = fmt.Errorf("%w: %w", remote.ErrUnknown, err)
		}
	case isAnswer(err), errors.Is(err, remote.ErrBlocked), errors.Is(err, remote.ErrUnauthorized), trouble != nil && (trouble.After > 0 || trouble.Kind == remote.Throttled):
		c.hear()
	case errors.As(err, &silence): // after which the remote was given up
		c.budget.unheard(time.Now().Add(-time.Duration(silence)), silence)
		trouble = nil
	}
	c.budget.learn(&c.try, outcome, trouble)
	return trouble, withKind(err)
}

// public are the errors that callers tell apart.
var public = append([]error{remote.ErrUnreachable, remote.ErrBlocked, remote.ErrUnauthorized, context.Canceled, context.DeadlineExceeded}, answers...)

// withKind returns err as one of them: as [remote.ErrUnreachable] where nothing is known of a swap, and
// where an adapter names no kind.
func withKind(err error) error {
	if err == nil || slices.ContainsFunc(public, func(kind error) bool { return errors.Is(err, kind) }) {
		return err
	}
	return &remote.Unreachable{Err: err}
}

// wait records that the call waits for the remote from now on.
func (c *call) wait() {
	c.began = time.Now()
	c.heard.Store(false)
}

// part records that a part of an answer came, unless the call has ended.
func (c *call) part() {
	if c.ctx.Err() == nil {
		c.hear()
	}
}

// hear records that the remote answers.
func (c *call) hear() {
	c.move()
	c.heard.Store(true)
	c.budget.hear()
	if c.first != nil {
		c.first.came.Store(true)
		c.late.Stop()
	}
}

// row records that a list has come to a name; nothing before it is asked for again. It
// waits until the limit has anything left, since the list may make further requests.
func (c *call) row() {
	c.tries = 0
	if wait := c.budget.spend(0); wait > 0 {
		_ = jitter.Pause(c.ctx, wait, nil) // the next request finds that ctx has ended
	}
	c.wait()
}

// whyEnded returns the reason why the try was given up.
func (c *call) whyEnded() error {
	cause := context.Cause(c.ctx)
	if cause != context.DeadlineExceeded {
		return cause
	}
	if waited := time.Since(c.began); waited >= time.Second { // less is no time for an answer
		c.budget.unheard(c.began, remote.NoAnswer(waited.Round(time.Second)))
	}
	return fmt.Errorf("%w: %w", remote.ErrUnreachable, cause)
}
