package cosmos

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Limits bound the request units that are spent in a second, and in a day in UTC.
// Requests are made at once as far as the limits have room for what each is
// expected to cost, so a limit is exceeded by the last of them, and by what others
// cost more than expected. Zero is no limit.
type Limits struct{ UnitsPerSecond, UnitsPerDay float64 }

// limiter keeps the limits. Its methods are not called at the same time.
type limiter struct {
	limits   Limits
	paced    time.Time // when the limit of a second lets the next request go
	day      spending
	underWay float64  // units that the requests under way are expected to cost
	ledgers  []Ledger // of directories whose next process is to know of day
	reserved record   // as it was last written
}

// wait tells how long the limits make a request wait, or that it waits for the
// answer to another one. A request goes while anything is left. For the next day,
// in UTC, nobody waits.
func (l *limiter) wait(now time.Time) (wait time.Duration, forAnswer bool, err error) {
	if limit := l.limits.UnitsPerDay; limit > 0 {
		switch spent := l.day.on(now); {
		case spent >= limit:
			return 0, false, fmt.Errorf("%w: next in %v", ErrLimit, tomorrow(now).Sub(now).Round(time.Second))
		case spent+l.underWay >= limit:
			return 0, true, nil
		}
	}
	if l.limits.UnitsPerSecond > 0 && now.Before(l.paced) {
		return l.paced.Sub(now), false, nil
	}
	return 0, false, nil
}

// begin counts a request that is expected to cost some units.
func (l *limiter) begin(now time.Time, units float64) {
	l.underWay += units
	if now.Before(l.paced) {
		now = l.paced
	}
	l.pace(now, units)
}

// end counts what a request cost that was expected to cost some units.
func (l *limiter) end(now time.Time, expected, units float64) {
	l.underWay -= expected
	l.pace(l.paced, units-expected)
	l.day.add(now, units)
	if l.reserved.Day.Equal(l.day.from) && l.day.sum > l.reserved.Sum { // it cost more than expected
		_ = l.reserve(now, 0) // what could not be written now is with the next request
	}
}

// pace moves the time of the next request by what units take at the limit of a
// second.
func (l *limiter) pace(from time.Time, units float64) {
	if l.limits.UnitsPerSecond > 0 {
		l.paced = from.Add(time.Duration(units / l.limits.UnitsPerSecond * float64(time.Second)))
	}
}

// resets returns when the limit of the day lets requests go again, the zero time
// when it does.
func (l *limiter) resets(now time.Time) time.Time {
	if l.limits.UnitsPerDay <= 0 || l.day.on(now) < l.limits.UnitsPerDay {
		return time.Time{}
	}
	return tomorrow(now)
}

// spending is what was spent on a day.
type spending struct {
	from time.Time // when the day began
	sum  float64
}

func (s *spending) add(now time.Time, units float64) {
	if from := now.Truncate(oneDay); !from.Equal(s.from) {
		s.from, s.sum = from, 0
	}
	s.sum += units
}

// on returns what was spent on the day of now.
func (s *spending) on(now time.Time) float64 {
	if !now.Truncate(oneDay).Equal(s.from) {
		return 0
	}
	return s.sum
}

const oneDay = 24 * time.Hour

func tomorrow(now time.Time) time.Time { return now.Truncate(oneDay).Add(oneDay) }

// Ledger keeps what was spent for the next process of a directory.
type Ledger interface {
	Read(name string) ([]byte, error)
	Write(name string, content []byte) error
}

// record is what was spent on a day, as the next process of the directory is to
// know it. While a process runs it is somewhat more than that, so that it need
// not be written with each request: a process that is killed loses the rest.
type record struct {
	V   int       `json:"v"`
	Day time.Time `json:"day"`
	Sum float64   `json:"sum"`
}

const (
	ledgerFile    = "spent.json"
	ledgerVersion = 1
)

// ledgerParts is how often the ledger is written while a day's limit is used up.
const ledgerParts = 32

// join goes on where the last process of the directory ended.
func (l *limiter) join(from Ledger) {
	if l.limits.UnitsPerDay <= 0 {
		return
	}
	var last record
	text, err := from.Read(ledgerFile)
	known := err == nil && json.Unmarshal(text, &last) == nil && last.V == ledgerVersion
	l.ledgers = append(l.ledgers, from)
	l.reserved = record{}
	if known && (last.Day.After(l.day.from) || last.Day.Equal(l.day.from) && last.Sum > l.day.sum) {
		l.day = spending{from: last.Day, sum: last.Sum}
	}
}

// leave writes down what was really spent.
func (l *limiter) leave(to Ledger) error {
	i := slices.Index(l.ledgers, to)
	if i < 0 {
		return nil
	}
	l.ledgers = slices.Delete(l.ledgers, i, i+1)
	return record{ledgerVersion, l.day.from, l.day.sum}.write(to)
}

// reserve makes sure that what the next request costs, and those under way, will
// be known to the next process, whatever becomes of this one.
func (l *limiter) reserve(now time.Time, units float64) error {
	if len(l.ledgers) == 0 {
		return nil
	}
	day, sum := now.Truncate(oneDay), l.day.on(now)+l.underWay+units
	if l.reserved.Day.Equal(day) && sum < l.reserved.Sum {
		return nil
	}
	next := record{ledgerVersion, day, sum + l.limits.UnitsPerDay/ledgerParts}
	var errs error
	for _, to := range l.ledgers {
		errs = errors.Join(errs, next.write(to))
	}
	if errs == nil {
		l.reserved = next
	}
	return errs
}

func (r record) write(to Ledger) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode spending: %w", err)
	}
	return to.Write(ledgerFile, text)
}
