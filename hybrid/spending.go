package hybrid

import (
	"fmt"
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

// left reports whether less than limit was spent in the span of now, and else
// when the next one begins.
func (s *spending) left(now time.Time, span time.Duration, limit float64) (time.Duration, bool) {
	from := now.Truncate(span)
	if limit <= 0 || !from.Equal(s.from) || s.sum < limit {
		return 0, true
	}
	return from.Add(span).Sub(now), false
}

const oneDay = 24 * time.Hour

// spend counts a charge. A request is let go while anything is left, so a
// limit is exceeded by one request at most for each that runs beside it.
func (b *Budget) spend(now time.Time, charge float64) {
	b.second.add(now, time.Second, charge)
	b.day.add(now, oneDay, charge)
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
