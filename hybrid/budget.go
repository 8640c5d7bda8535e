package hybrid

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Limits bound the request units that are spent: those of a day, in UTC, by all
// processes of a directory that follow each other. They are exceeded by one
// request at most. Zero is no limit. Work that must wait stays on the disk and
// goes on by itself.
type Limits struct{ RequestUnitsPerSecond, RequestUnitsPerDay float64 }

// Budget is what all requests of the stores that share it have in common: how
// fast the account lets them be, when it may be asked again, and what they may
// cost. See [Options.Budget].
type Budget struct {
	limits Limits
	chance *chance

	mu       sync.Mutex    // guards what follows
	rate     float64       // requests a second; 0: as many as there are
	next     time.Time     // when the rate lets the next one go
	window   time.Time     // of recent
	recent   int           // requests since window
	failures int           // answers in a row that were none
	shut     time.Time     // nobody asks before
	asked    bool          // it was the account that said so
	probing  bool          // one request finds out whether the account is back
	turn     chan struct{} // closed when an answer came
	flying   int
	blocked  error // why the account refuses everything
	second   spending
	day      spending
	dearest  float64   // charge of any one request
	ledgers  []*states // of directories whose next process is to know of day
	reserved ledger    // as it was last written
}

// NewBudget returns a budget with limits.
func NewBudget(l Limits) *Budget { return &Budget{limits: l, turn: make(chan struct{})} }

const (
	firstBackoff = 500 * time.Millisecond
	lastBackoff  = 5 * time.Minute
	blockedFor   = 15 * time.Minute
	patience     = 10 * time.Second // longer waits are not for a request but for its session
	slowest      = 0.5              // requests a second
	fastest      = 1000             // a rate above it is none
)

// admit waits until a request may go. It does not wait while the account
// refuses everything, nor for long.
func (b *Budget) admit(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		wait, turn, err := b.ask(time.Now())
		if err != nil || wait == 0 && turn == nil {
			return err
		}
		if err := pause(ctx, wait, turn); err != nil {
			return err
		}
	}
}

// pause waits for a time, if it is not 0, and for turn, if it is not nil.
func pause(ctx context.Context, wait time.Duration, turn <-chan struct{}) error {
	var over <-chan time.Time
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		over = t.C
	}
	select {
	case <-over:
		return nil
	case <-turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ask takes the place of a request, or tells how long to wait before asking
// again, or for what.
func (b *Budget) ask(now time.Time) (time.Duration, <-chan struct{}, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	closed := now.Before(b.shut)
	if closed && b.blocked != nil {
		return 0, nil, b.blocked
	}
	if wait := b.shut.Sub(now); wait > patience {
		return 0, nil, fmt.Errorf("%w: next try in %v", ErrUnreachable, wait.Round(time.Second))
	} else if closed {
		return wait, nil, nil
	}
	if b.failing() && b.probing || b.limits != (Limits{}) && b.flying > 0 {
		return 0, b.turn, nil
	}
	if wait, err := b.spent(now); wait > 0 || err != nil {
		return wait, nil, err
	}
	if b.rate > 0 {
		if now.Before(b.next) {
			return b.next.Sub(now), nil, nil
		}
		b.next = now.Add(time.Duration(float64(time.Second) / b.rate))
	}
	if err := b.reserve(now); err != nil {
		return 0, nil, err
	}
	b.probing = b.failing()
	b.flying++
	b.count(now)
	return 0, nil, nil
}

func (b *Budget) failing() bool { return b.failures > 0 || b.blocked != nil }

func (b *Budget) count(now time.Time) {
	if now.Sub(b.window) >= time.Second {
		b.window, b.recent = now, 0
	}
	b.recent++
}

// learn takes the outcome of a request that admit let go, and its charge.
func (b *Budget) learn(v verdict, charge float64) {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
	b.flying--
	b.spend(now, charge)
	switch v.class {
	case abandoned:
	case throttled:
		b.slow()
		b.fail(now, v.wait)
	case shaky:
		b.fail(now, v.wait)
	case denied:
		b.blocked, b.shut, b.asked = v.err, now.Add(blockedFor), false
	default:
		b.failures, b.blocked, b.shut = 0, nil, time.Time{}
		b.quicken()
	}
	close(b.turn)
	b.turn = make(chan struct{})
}

// slow halves the rate, and quicken adds to it: so all requests of the
// process find the rate that the account bears.
func (b *Budget) slow() {
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
// failure, or for as long as the account says.
func (b *Budget) fail(now time.Time, asked time.Duration) {
	b.failures++
	wait := asked
	b.asked = wait > 0
	if wait == 0 {
		wait = b.chance.backoff(b.failures)
	}
	if until := now.Add(wait); until.After(b.shut) {
		b.shut = until
	}
}

// reopen lets one request find out at once whether the account is back, unless
// it was the account that asked to wait.
func (b *Budget) reopen() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.asked {
		b.shut = time.Time{}
	}
}

// opens tells when the account may be asked again, if not now.
func (b *Budget) opens() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if wait, ok := b.day.left(now, oneDay, b.limits.RequestUnitsPerDay); !ok && now.Add(wait).After(b.shut) {
		return now.Add(wait)
	}
	return b.shut
}
