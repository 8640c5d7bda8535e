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

// Budget is the shared state of all calls of a process to one remote: the rate at which
// the remote takes them, when it may be asked again, and the cost that is allowed. Its
// methods may be called by many goroutines.
type Budget struct {
	source    *jitter.Source
	perSecond float64 // request units; 0: no limit

	mu       sync.Mutex    // guards the fields below
	next     time.Time     // when the limit and the rate let the next call go
	rate     float64       // calls a second; 0: as many as there are
	slowed   time.Time     // when the remote asked for the rate last
	window   time.Time     // of recent
	recent   int           // calls since window
	heard    time.Time     // when the remote answered last; zero: never
	away     bool          // it was found unreachable, and has not answered since
	failures int           // outcomes in a row that were no answers
	why      error         // of the last of them; Is ErrUnreachable
	shut     time.Time     // no call is made before
	asked    time.Time     // nor, after Reopen, before this; not after shut
	probing  bool          // one call finds out whether the remote is back
	turn     chan struct{} // closed when an outcome came
	blocked  error         // the reason why the remote refuses everything
	denied   time.Time     // since when it does not authorize requests; zero: it does
	left     int           // calls that were given up and have not returned
}

// NewBudget returns a budget of so many request units in a second, 0 for any number. It
// draws its waits from source.
func NewBudget(perSecond float64, source *jitter.Source) *Budget {
	return &Budget{source: source, perSecond: perSecond, turn: make(chan struct{})}
}

const (
	maxTries   = 4 // of a call, before the work waits for another time
	blockedFor = 15 * time.Minute
	roleTime   = 30 * time.Minute // a role assignment arrives in less
	rolePause  = time.Minute      // between calls until then
	patience   = 10 * time.Second // a call does not wait longer: its session does
	fewest     = 0.5              // calls a second
	fastest    = 1000             // a rate above it is none
	rateLasts  = 5 * time.Minute  // how long a rate that a remote bore is meaningful
	awayFor    = 30 * time.Second // how long an unreachable remote counts as away
)

// admit waits until a call may go that is expected to cost some units. It does not wait
// while the remote refuses everything or is away, nor for long.
func (b *Budget) admit(ctx context.Context, units float64) error {
	for ctx.Err() == nil {
		wait, turn, err := b.ask(time.Now(), units)
		if err != nil || wait == 0 && turn == nil {
			return err
		}
		_ = jitter.Pause(ctx, wait, turn)
	}
	err := context.Cause(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures > 0 && !errors.Is(err, remote.ErrUnreachable) {
		return fmt.Errorf("%w, as %v", err, b.why)
	}
	return err
}

// ask takes the place of a call, or returns the time or the channel to wait for before
// asking again.
func (b *Budget) ask(now time.Time, units float64) (time.Duration, <-chan struct{}, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch wait := b.shut.Sub(now); {
	case wait > 0 && b.blocked != nil && b.shut.After(b.asked):
		return 0, nil, b.blocked
	case b.isAway(now) != nil:
		return 0, nil, b.isAway(now)
	case b.left >= maxLeft:
		return 0, nil, errTooManyLeft
	case wait > patience:
		return 0, nil, fmt.Errorf("%w; it is not asked for the next %v", b.why, wait.Round(time.Second))
	case wait > 0:
		return wait, nil, nil
	case b.probing && b.failing():
		return 0, b.turn, nil
	}
	if now.Sub(b.slowed) > rateLasts {
		b.rate = 0
	}
	if b.next.After(now) && (b.perSecond > 0 || b.rate > 0) {
		return b.next.Sub(now), nil, nil
	}
	if b.next = now; b.rate > 0 {
		b.next = now.Add(time.Duration(float64(time.Second) / b.rate))
	}
	b.pay(units)
	b.probing = b.failing()
	if now.Sub(b.window) >= time.Second {
		b.window, b.recent = now, 0
	}
	b.recent++
	return 0, nil, nil
}

func (b *Budget) failing() bool { return b.failures > 0 || b.blocked != nil || b.away }

// pay moves the time of the next call by the time that units take: the expected cost of a
// call as it begins, and the cost of its requests. A call goes while anything is left, so
// the last call may exceed the limit, and so may calls that cost more than expected.
func (b *Budget) pay(units float64) {
	if b.perSecond > 0 {
		b.next = b.next.Add(time.Duration(units / b.perSecond * float64(time.Second)))
	}
}

// spend counts the cost of a request, and returns for how long the limit has nothing
// left.
func (b *Budget) spend(units float64) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pay(units); b.perSecond == 0 {
		return 0
	}
	return time.Until(b.next)
}

// hear records that the remote answers.
func (b *Budget) hear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.heard = time.Now()
	if b.away { // the others need not wait for the whole answer
		b.away, b.probing, b.shut, b.asked = false, false, time.Time{}, time.Time{}
		b.wake()
	}
}

// unheard declares the remote unreachable, for a reason, unless it has answered since a
// time. It reports whether it did.
func (b *Budget) unheard(since time.Time, why error) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.heard.After(since) {
		return false
	}
	b.goAway(why)
	b.wake()
	return true
}

func (b *Budget) goAway(why error) {
	b.away, b.why = true, why
	b.waits(awayFor)
}

// wake wakes all calls that wait for the outcome of another call.
func (b *Budget) wake() {
	close(b.turn)
	b.turn = make(chan struct{})
}

// try is a try of a call.
type try struct {
	units   float64     // its expected cost
	began   time.Time   // its wait for the remote
	heard   atomic.Bool // the remote, since then
	learned bool        // an outcome of it
}

// answers are the errors of a remote that takes requests.
var answers = []error{remote.ErrNotExist, remote.ErrUnchanged, remote.ErrChanged, remote.ErrTooLarge, remote.ErrFull, remote.ErrRefused}

func isAnswer(err error) bool {
	return err == nil || slices.ContainsFunc(answers, func(a error) bool { return errors.Is(err, a) })
}

// troubleOf returns the failure of a remote that did not answer, or not well, in an
// outcome; nil: it did, or nothing is known.
func troubleOf(err error) (u *remote.Unreachable) {
	if !errors.As(err, &u) && (errors.Is(err, remote.ErrUnreachable) || errors.Is(err, remote.ErrUnknown)) {
		return &remote.Unreachable{Err: errors.New(err.Error())}
	}
	return u
}

// learn takes the outcome of a try, and its trouble; see the package's documentation.
func (b *Budget) learn(t *try, err error, trouble *remote.Unreachable) {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.wake()
	if !t.learned {
		b.probing = false
		b.pay(-t.units)
	}
	switch now, denied := time.Now(), errors.Is(err, remote.ErrUnauthorized); {
	case isAnswer(err) && t.learned: // as the list began
	case isAnswer(err):
		b.failures, b.blocked, b.shut, b.asked, b.denied = 0, nil, time.Time{}, time.Time{}, time.Time{}
		if b.rate > fastest {
			b.rate = 0
		} else if b.rate > 0 {
			b.rate += 0.5
		}
	case denied && b.denied.IsZero():
		b.denied = now
		fallthrough
	case denied && now.Sub(b.denied) < roleTime:
		b.blocked, b.shut = err, later(b.shut, now.Add(rolePause))
	case denied, errors.Is(err, remote.ErrBlocked):
		b.blocked, b.shut = err, later(b.shut, now.Add(blockedFor))
	case trouble != nil:
		b.fail(t, trouble)
	}
	t.learned = true
}

// fail shuts the remote for a random part of a time that doubles with each failure, or
// for as long as the remote says. A remote that did not answer counts as away at once
// where the failure is of kind Away, and where it had not answered before; otherwise a
// connection may have broken, and it takes several failures. A busy remote gets half as
// many calls as before, and then slowly more: so all calls of the process find the rate
// that it bears.
func (b *Budget) fail(t *try, u *remote.Unreachable) {
	b.failures, b.why = b.failures+1, u
	silent := !t.heard.Load() && !b.heard.After(t.began)
	if u.Kind == remote.Throttled {
		if b.slowed = time.Now(); b.rate == 0 {
			b.rate = float64(b.recent)
		}
		b.rate = max(fewest, b.rate/2)
	}
	switch {
	case u.Kind == remote.Stale:
	case silent && (u.Kind == remote.Away || b.heard.IsZero() || b.away || b.failures >= maxTries):
		b.goAway(u)
	case u.After > 0:
		b.waits(u.After)
	default:
		b.shut = later(b.shut, time.Now().Add(b.source.Backoff(b.failures)))
	}
}

// waits shuts the remote for a time, also for Reopen. Several calls are under way at
// once, and their outcomes come in any order.
func (b *Budget) waits(wait time.Duration) {
	b.asked = later(b.asked, time.Now().Add(wait))
	b.shut = later(b.shut, b.asked)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Away returns the error of a remote that was found unreachable a short time ago, with
// the time for which it is not asked; nil: it may be asked.
func (b *Budget) Away() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.isAway(time.Now())
}

func (b *Budget) isAway(now time.Time) error {
	if b.away && now.Before(b.shut) {
		return fmt.Errorf("%w; it is asked again within %v", b.why, awayFor)
	}
	return nil
}

// Answers reports whether the remote has answered, since it was away if it was.
func (b *Budget) Answers() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.heard.IsZero() && !b.away
}

// Reopen lets one call find out whether the remote is back: at once, or when the time is
// over for which the remote asked. Former refusals do not count, but a remote that is
// away stays away.
func (b *Budget) Reopen() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shut = b.asked
}

// Opens returns the time at which the remote may be asked again, if not now.
func (b *Budget) Opens() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.shut
}
