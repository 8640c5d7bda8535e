package cosmos

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/amplifier-go/sessionstorage/internal/remote"
)

// idleTime is after how long without a byte in either direction a request ends.
const idleTime = 30 * time.Second

// firstAnswer bounds how long a call waits for the account's first answer to it.
type firstAnswer struct {
	budget *Budget
	wait   time.Duration
	once   sync.Once
	began  time.Time // the first wait
	came   atomic.Bool
}

type firstKey struct{}

// Within returns ctx for a call that waits no longer than a time for the account's first
// answer to its requests. When the time is over they fail with [ErrUnreachable], and the
// account is away.
func (b *Budget) Within(ctx context.Context, wait time.Duration) context.Context {
	return context.WithValue(ctx, firstKey{}, &firstAnswer{budget: b, wait: wait})
}

// Waiting returns ctx for a wait of a call for others, which may be waiting for the account:
// it ends when the account has answered nobody for as long as the call waits for its first
// answer. stop is called after the wait.
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
		if err := noAnswer(f.wait); f.budget.unheard(start, err) {
			end(err)
		}
	})
	return ctx, func() { late.Stop(); end(nil) }
}

// noAnswer is the error of an account that did not answer in a time. Like the end of a
// context by its deadline, it Is [context.DeadlineExceeded].
type noAnswer time.Duration

func (in noAnswer) Error() string {
	return fmt.Sprintf("%v: no answer in %v", ErrUnreachable, time.Duration(in))
}

func (noAnswer) Is(target error) bool {
	return target == ErrUnreachable || target == context.DeadlineExceeded
}

// trip is a request of a [Conn], from its wait for its turn to the end of the answer. A nil
// trip, as of a request that no Conn makes, is told of nothing.
type trip struct {
	budget *Budget
	count  func(remote.Request) // takes each request that the SDK makes beside the last one
	ctx    context.Context      // of the request
	end    context.CancelCauseFunc
	first  *firstAnswer    // that this request may bring; nil: it came, or nobody waits for it
	late   *time.Timer     // ends the trip when first was waited for long enough
	began  time.Time       // the request
	idle   *time.Timer     // ends the trip when nothing moves; nil: no wire has begun the request
	wired  bool            // the client has a wire
	last   *remote.Request // that the wire made; nil: none
	beside func(*trip)     // takes the trip of a request for the account's regions; nil: the client prefers none
	stays  *bool           // the request does not go to another region
}

type tripKey struct{}

func tripOf(ctx context.Context) *trip {
	t, _ := ctx.Value(tripKey{}).(*trip)
	return t
}

// setOut begins a trip.
func setOut(ctx context.Context, b *Budget) *trip {
	t := &trip{budget: b}
	t.ctx, t.end = context.WithCancelCause(ctx)
	if f, ok := ctx.Value(firstKey{}).(*firstAnswer); ok && !f.came.Load() {
		t.first = f
		f.once.Do(func() { f.began = time.Now() })
		t.late = time.AfterFunc(time.Until(f.began.Add(f.wait)), func() {
			f.budget.unheard(f.began, noAnswer(f.wait))
			t.end(noAnswer(f.wait))
		})
	}
	return t
}

// request begins the request, and returns the context for it. The SDK keeps the values of
// a context where it drops its end.
func (t *trip) request() context.Context {
	t.began = time.Now()
	return policy.WithRetryOptions(context.WithValue(t.ctx, tripKey{}, t), policy.RetryOptions{MaxRetries: -1})
}

// over ends the trip.
func (t *trip) over() {
	if t.late != nil {
		t.late.Stop()
	}
	if t.idle != nil {
		t.idle.Stop()
	}
	t.end(errOver)
}

var errOver = errors.New("the request is over")

// why returns why the request was given up.
func (t *trip) why() error {
	cause := context.Cause(t.ctx)
	if cause != context.DeadlineExceeded {
		return cause
	}
	if waited := time.Since(t.began); waited >= time.Second { // less is no time for an answer
		t.budget.unheard(t.began, noAnswer(waited.Round(time.Second)))
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, cause)
}

// moves notes that the wire begins the request, perhaps again: from now on something must
// move.
func (t *trip) moves() {
	if t == nil {
		return
	}
	if t.idle != nil {
		t.idle.Reset(idleTime)
		return
	}
	t.idle = time.AfterFunc(idleTime, func() {
		if t.ctx.Err() == nil { // the transport may read on after the trip
			t.budget.unheard(time.Now().Add(-idleTime), noAnswer(idleTime))
			t.end(noAnswer(idleTime))
		}
	})
}

// moved notes that a part of the request or of the answer moved.
func (t *trip) moved() {
	if t != nil {
		t.idle.Reset(idleTime)
	}
}

// heard notes that the account answers.
func (t *trip) heard() {
	if t == nil {
		return
	}
	t.budget.hear()
	if t.first != nil {
		t.first.came.Store(true)
		t.late.Stop()
	}
}

// goesOn reports whether the SDK may make the request, which a region did not take, in
// another one. For that it asks the account for its regions, beside the trip.
func (t *trip) goesOn() bool {
	if t == nil || t.beside == nil || *t.stays || t.ctx.Err() != nil {
		return false
	}
	*t.stays = true
	t.beside(&trip{budget: t.budget, count: t.count, ctx: context.WithoutCancel(t.ctx)})
	return true
}

// made notes that the wire made a request, and counts those of which the Conn does not know:
// it counts the last one, but not those for the account's properties, nor one that the SDK
// made again in another region, or with another token.
func (t *trip) made(r *http.Request, start time.Time, answer *http.Response) {
	if t == nil {
		return
	}
	one := remote.Request{Start: start, Err: ErrUnreachable}
	if answer != nil {
		one = remote.Request{Start: start, Status: answer.StatusCode, Units: unitsOf(answer)}
	}
	if isAccount(r) {
		t.count(one)
		return
	}
	if t.last != nil {
		t.count(*t.last)
	}
	t.last = &one
}

// isAccount reports whether a request asks for the account's properties.
func isAccount(r *http.Request) bool {
	return r.Method == http.MethodGet && (r.URL.Path == "" || r.URL.Path == "/")
}
