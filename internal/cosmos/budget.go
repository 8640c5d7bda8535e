package cosmos

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/jitter"
)

// Budget is what all requests of a process to one account have in common: how
// fast the account lets them be, when it may be asked again, and what they may
// cost. Its methods may be called by many goroutines.
type Budget struct {
	source *jitter.Source

	mu       sync.Mutex    // guards what follows
	rate     float64       // requests a second; 0: as many as there are
	next     time.Time     // when the rate lets the next one go
	slowed   time.Time     // when the account asked for the rate last
	window   time.Time     // of recent
	recent   int           // requests since window
	heard    time.Time     // when the account answered last; zero: never
	away     time.Time     // when it was found unreachable last; zero: it has answered since
	failures int           // answers in a row that were none
	why      error         // of the last of them; Is ErrUnreachable
	shut     time.Time     // nobody asks before
	asked    time.Time     // nor before this, since the account said so; not after shut
	probing  bool          // one request finds out whether the account is back
	turn     chan struct{} // closed when an answer came
	blocked  error         // why the account refuses everything
	denied   time.Time     // since when it does not authorize requests; zero: it does
	limit    limiter
}

// NewBudget returns a budget of so many request units in a second, 0 for any number. It
// draws its waits from source.
func NewBudget(perSecond float64, source *jitter.Source) *Budget {
	return &Budget{source: source, turn: make(chan struct{}), limit: limiter{perSecond: perSecond}}
}

// maxAttempts is how often a request is made before the work waits for another
// time.
const maxAttempts = 4

const (
	blockedFor = 15 * time.Minute
	roleTime   = 30 * time.Minute // a role assignment arrives in less
	rolePause  = time.Minute      // between requests until then
	patience   = 10 * time.Second // longer waits are not for a request but for its session
	slowest    = 0.5              // requests a second
	fastest    = 1000             // a rate above it is none
	rateLasts  = 5 * time.Minute  // what an account bore longer ago tells nothing
	awayFor    = 30 * time.Second // how long an account that was unreachable is taken to be
)

// admit waits until a request may go that is expected to cost some units. It does
// not wait while the account refuses everything or is away, nor for long.
func (b *Budget) admit(ctx context.Context, units float64) error {
	for ctx.Err() == nil {
		wait, turn, err := b.ask(time.Now(), units)
		if err != nil || wait == 0 && turn == nil {
			return err
		}
		_ = jitter.Pause(ctx, wait, turn)
	}
	return b.late(context.Cause(ctx))
}

// late returns err, the end of a context, with what was waited for.
func (b *Budget) late(err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures == 0 || errors.Is(err, ErrUnreachable) {
		return err
	}
	return fmt.Errorf("%w, as %v", err, b.why)
}

// Away returns the error of an account that was found unreachable a short time ago, and
// for how long nobody asks it; nil: it may be asked.
func (b *Budget) Away() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.isAway(time.Now())
}

func (b *Budget) isAway(now time.Time) error {
	if wait := b.away.Add(awayFor).Sub(now); wait > 0 {
		return fmt.Errorf("%w; it is asked again within %v", b.why, awayFor)
	}
	return nil
}

// hear notes that the account answers.
func (b *Budget) hear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.heard = time.Now()
	if !b.away.IsZero() { // the others need not wait for the whole answer
		b.away, b.probing = time.Time{}, false
		b.wake()
	}
}

// unheard finds the account unreachable, for a reason, unless it has answered since a time.
// It reports whether it did.
func (b *Budget) unheard(since time.Time, why error) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.heard.After(since) {
		return false
	}
	b.away, b.why = time.Now(), why
	b.wake()
	return true
}

// wake lets those who wait for an answer to another request ask again.
func (b *Budget) wake() {
	close(b.turn)
	b.turn = make(chan struct{})
}

// ask takes the place of a request, or tells how long to wait before asking
// again, or for what.
func (b *Budget) ask(now time.Time, units float64) (time.Duration, <-chan struct{}, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	closed := now.Before(b.shut)
	if closed && b.blocked != nil && b.shut.After(b.asked) {
		return 0, nil, b.blocked
	}
	if err := b.isAway(now); err != nil {
		return 0, nil, err
	}
	if wait := b.shut.Sub(now); wait > patience {
		return 0, nil, fmt.Errorf("%w; it is not asked for the next %v", b.why, wait.Round(time.Second))
	} else if closed {
		return wait, nil, nil
	}
	if b.failing() && b.probing {
		return 0, b.turn, nil
	}
	if wait := b.limit.wait(now); wait > 0 {
		return wait, nil, nil
	}
	if now.Sub(b.slowed) > rateLasts {
		b.rate = 0
	}
	if b.rate > 0 {
		if now.Before(b.next) {
			return b.next.Sub(now), nil, nil
		}
		b.next = now.Add(time.Duration(float64(time.Second) / b.rate))
	}
	b.probing = b.failing()
	b.limit.begin(now, units)
	b.count(now)
	return 0, nil, nil
}

func (b *Budget) failing() bool {
	return b.failures > 0 || b.blocked != nil || !b.away.IsZero()
}

// Answers reports whether the account has answered, since it was away if it was.
func (b *Budget) Answers() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.answers()
}

func (b *Budget) answers() bool { return !b.heard.IsZero() && b.away.IsZero() }

func (b *Budget) count(now time.Time) {
	if now.Sub(b.window) >= time.Second {
		b.window, b.recent = now, 0
	}
	b.recent++
}

// learn takes the outcome of a request that admit let go, and what it was expected
// to cost and cost.
func (b *Budget) learn(a Answer, expected, units float64) {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
	b.limit.end(expected, units)
	switch {
	case a.Class == Abandoned, a.behind():
		b.wake()
		return
	case a.stale: // the next connection may be good
		b.failures, b.why = b.failures+1, a.Err
		b.wake()
		return
	}
	switch a.Class {
	case Throttled:
		b.slow(now)
		b.fail(now, a)
	case Unknown:
		b.fail(now, a)
	case Denied:
		b.block(now, a.Err, blockedFor)
	case Unauthorized:
		b.unauthorized(now, a.Err)
	default:
		b.failures, b.blocked, b.shut, b.asked, b.denied = 0, nil, time.Time{}, time.Time{}, time.Time{}
		b.quicken()
	}
	b.wake()
}

// block shuts the account for a time, in which requests fail at once with err.
func (b *Budget) block(now time.Time, err error, wait time.Duration) {
	b.blocked = err
	b.shutUntil(now.Add(wait))
}

// unauthorized shuts the account for a short time as long as a role assignment may
// be on its way.
func (b *Budget) unauthorized(now time.Time, err error) {
	if b.denied.IsZero() {
		b.denied = now
	}
	wait := rolePause
	if now.Sub(b.denied) >= roleTime {
		wait = blockedFor
	}
	b.block(now, err, wait)
}

// refused tells that an answer means that the account refuses everything, though
// it did not say so by itself.
func (b *Budget) refused(why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.block(time.Now(), why, blockedFor)
}

// slow halves the rate, and quicken adds to it: so all requests of the
// process find the rate that the account bears. The rate ends a time after the
// account last asked for it.
func (b *Budget) slow(now time.Time) {
	b.slowed = now
	if b.rate == 0 {
		b.rate = float64(b.recent)
	}
	b.rate = max(slowest, b.rate/2)
}

func (b *Budget) quicken() {
	if b.rate == 0 {
		return
	}
	if b.rate += 0.5; b.rate > fastest {
		b.rate = 0
	}
}

// fail shuts the account for a random part of a time that doubles with each
// failure, or for as long as the account says. An account that did not answer is found
// unreachable at once where nothing else is to be expected, and where it had not
// answered before; else a connection may have broken, and it takes several failures.
func (b *Budget) fail(now time.Time, a Answer) {
	b.failures++
	if b.why = a.Err; b.why == nil {
		b.why = ErrUnreachable
	}
	if a.silent && !b.heard.After(a.began) && (noWay(a.Err) || !b.answers() || b.failures >= maxAttempts) {
		b.away = now
		return
	}
	wait := a.wait
	if wait == 0 {
		wait = b.source.Backoff(b.failures)
	}
	until := now.Add(wait)
	if a.wait > 0 && until.After(b.asked) {
		b.asked = until
	}
	b.shutUntil(until)
}

// noWay reports whether a request failed in a way that shows that no other will arrive
// now: nothing took the connection, or something else than the account answers there.
func noWay(err error) bool {
	if e := (*net.OpError)(nil); errors.As(err, &e) && e.Op == "proxyconnect" {
		return true
	}
	e := (*elsewhereError)(nil)
	return undialed(err) || errors.As(err, &e)
}

func undialed(err error) bool {
	e := (*net.OpError)(nil)
	return errors.As(err, &e) && e.Op == "dial"
}

// shutUntil shuts the account until then, if it is not shut for longer. Several
// requests are under way at once, and their answers come in any order.
func (b *Budget) shutUntil(then time.Time) {
	if then.After(b.shut) {
		b.shut = then
	}
}

// Reopen lets one request find out whether the account is back: at once, or when the
// time is over for which the account asked. What it refused does not count, but an account
// that is away stays so.
func (b *Budget) Reopen() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shut = b.asked
}

// Opens tells when the account may be asked again, if not now.
func (b *Budget) Opens() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at := b.away.Add(awayFor); at.After(time.Now()) && at.After(b.shut) {
		return at
	}
	return b.shut
}
