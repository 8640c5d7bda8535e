package hybrid

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// spending is what was spent since a time.
type spending struct {
	from time.Time
	sum  float64
}

func (s *spending) add(now time.Time, span time.Duration, charge float64) {
	if from := now.Truncate(span); !from.Equal(s.from) {
		s.from, s.sum = from, 0
	}
	s.sum += charge
}

// in returns what was spent in the span of now.
func (s *spending) in(now time.Time, span time.Duration) float64 {
	if !now.Truncate(span).Equal(s.from) {
		return 0
	}
	return s.sum
}

// left reports whether less than limit was spent in the span of now, and else
// when the next one begins.
func (s *spending) left(now time.Time, span time.Duration, limit float64) (time.Duration, bool) {
	if limit <= 0 || s.in(now, span) < limit {
		return 0, true
	}
	return now.Truncate(span).Add(span).Sub(now), false
}

const oneDay = 24 * time.Hour

// spend counts a charge. A request is let go while anything is left, so a
// limit is exceeded by one request at most for each that runs beside it.
func (b *Budget) spend(now time.Time, charge float64) {
	b.second.add(now, time.Second, charge)
	b.day.add(now, oneDay, charge)
	b.dearest = max(b.dearest, charge)
	if b.reserved.Day.Equal(b.day.from) && b.day.sum > b.reserved.Sum { // it cost more than any before
		_ = b.reserve(now) // what could not be written now is with the next request
	}
}

// spent tells how long the limits make a request wait; for that of the day,
// which is a day in UTC, nobody waits.
func (b *Budget) spent(now time.Time) (time.Duration, error) {
	if wait, ok := b.day.left(now, oneDay, b.limits.RequestUnitsPerDay); !ok {
		return 0, fmt.Errorf("%w: next in %v", ErrLimit, wait.Round(time.Second))
	}
	wait, _ := b.second.left(now, time.Second, b.limits.RequestUnitsPerSecond)
	return wait, nil
}

// ledger is what was spent on a day, as the next process of the directory is to
// know it. While a process runs it is somewhat more than that, so that it need
// not be written with each request: a process that is killed loses the rest.
type ledger struct {
	V   int       `json:"v"`
	Day time.Time `json:"day"`
	Sum float64   `json:"sum"`
}

const ledgerFile = "spent.json"

// ledgerParts is how often the ledger is written while a day's limit is used up.
const ledgerParts = 32

// join lets the budget go on where the last process of the directory ended.
func (b *Budget) join(s *states) {
	if b.limits.RequestUnitsPerDay <= 0 {
		return
	}
	var l ledger
	text, err := s.read(ledgerFile)
	known := err == nil && json.Unmarshal(text, &l) == nil && l.V == stateVersion
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ledgers = append(b.ledgers, s)
	b.reserved = ledger{}
	if known && (l.Day.After(b.day.from) || l.Day.Equal(b.day.from) && l.Sum > b.day.sum) {
		b.day = spending{from: l.Day, sum: l.Sum}
	}
}

// leave writes down what was really spent.
func (b *Budget) leave(s *states) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.ledgers, s)
	if i < 0 {
		return nil
	}
	b.ledgers = slices.Delete(b.ledgers, i, i+1)
	return ledger{stateVersion, b.day.from, b.day.sum}.write(s)
}

// reserve makes sure that what the next request costs will be known to the
// next process, whatever becomes of this one.
func (b *Budget) reserve(now time.Time) error {
	if len(b.ledgers) == 0 {
		return nil
	}
	day, sum := now.Truncate(oneDay), b.day.in(now, oneDay)
	if b.reserved.Day.Equal(day) && sum+b.dearest < b.reserved.Sum {
		return nil
	}
	next := ledger{stateVersion, day, sum + max(b.limits.RequestUnitsPerDay/ledgerParts, 2*b.dearest)}
	var errs error
	for _, s := range b.ledgers {
		errs = errors.Join(errs, next.write(s))
	}
	if errs == nil {
		b.reserved = next
	}
	return errs
}

func (l ledger) write(s *states) error {
	text, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("encode spending: %w", err)
	}
	return s.write(ledgerFile, text)
}
