package pytime

import (
	"errors"
	"time"
)

// Reasons why text is not a time. The texts about a range are Python's.
var (
	errForm   = errors.New("invalid isoformat string")
	errOffset = errors.New("offset must be strictly between -24 and 24 hours")
	errYear   = errors.New("year is out of range")
	errMonth  = errors.New("month must be in 1..12")
	errDay    = errors.New("day is out of range for month")
	errHour   = errors.New("hour must be in 0..23")
	errMinute = errors.New("minute must be in 0..59")
	errSecond = errors.New("second must be in 0..59")
)

// fields are the parts of a written time, none of them negative and not yet
// checked.
type fields struct {
	date
	clock
	offset time.Duration // east of UTC, may be negative; whole microseconds
}

type date struct{ year, month, day int }

type clock struct{ hour, minute, second, micro int }

// time returns the time that the fields make, in UTC or a fixed zone.
func (f fields) time() (time.Time, error) {
	if err := f.check(); err != nil {
		return time.Time{}, err
	}
	wall := time.Date(f.year, time.Month(f.month), f.day, f.hour, f.minute, f.second, f.micro*1000, time.UTC)
	return wall.Add(-f.offset).In(location(f.offset)), nil
}

// check returns the error of Python about the fields.
func (f fields) check() error {
	switch {
	case f.offset <= -24*time.Hour || f.offset >= 24*time.Hour:
		return errOffset
	case f.year < 1 || f.year > 9999:
		return errYear
	case f.month < 1 || f.month > 12:
		return errMonth
	case f.day < 1 || f.day > daysIn(f.year, f.month):
		return errDay
	case f.hour > 23:
		return errHour
	case f.minute > 59:
		return errMinute
	case f.second > 59:
		return errSecond
	}
	return nil
}

// daysIn returns the number of days of a month.
func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// length returns the time since midnight.
func (c clock) length() time.Duration {
	return time.Duration(c.hour)*time.Hour + time.Duration(c.minute)*time.Minute +
		time.Duration(c.second)*time.Second + time.Duration(c.micro)*time.Microsecond
}
