package cosmos

import "time"

// limiter keeps the limit of request units in a second. Requests are made at once as
// far as the limit has room for what each is expected to cost, so it is exceeded by the
// last of them, and by what others cost more than expected. Its methods are not called at
// the same time.
type limiter struct {
	perSecond float64   // 0: no limit
	paced     time.Time // when the next request may go
}

// wait returns how long the limit makes a request wait. A request goes while anything is
// left.
func (l *limiter) wait(now time.Time) time.Duration { return max(0, l.paced.Sub(now)) }

// begin counts a request that is expected to cost some units.
func (l *limiter) begin(now time.Time, units float64) {
	if now.Before(l.paced) {
		now = l.paced
	}
	l.pace(now, units)
}

// end counts what a request cost that was expected to cost some units.
func (l *limiter) end(expected, units float64) { l.pace(l.paced, units-expected) }

// pace moves the time of the next request by what units take.
func (l *limiter) pace(from time.Time, units float64) {
	if l.perSecond > 0 {
		l.paced = from.Add(time.Duration(units / l.perSecond * float64(time.Second)))
	}
}
