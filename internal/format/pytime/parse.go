package pytime

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/format/limits"
)

// Of returns the time that a text is, in UTC, and the zero time for a text that is none.
func Of(text string) time.Time {
	t, _, err := Parse(text)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// Parse reads the time of an event. The time is aware when text has an offset
// or ends in Z; otherwise it is naive and returned in UTC, which is not how
// the reference compares it: comparing naive with aware is an error there.
//
// Z means +00:00 at every place, but z ends a naive time. The error has the reference's
// text, "Cannot parse timestamp: " and text.
func Parse(text string) (t time.Time, aware bool, err error) {
	if isPlain(text) {
		if t, aware, err = parseISO(text); err == nil {
			return t, aware, nil
		}
	}

	normal := normalise(text)
	if t, aware, ok := parseStrptime(normal); ok {
		return t, aware, nil
	}
	if t, aware, err = parseISO(normal); err == nil {
		return t, aware, nil
	}
	return time.Time{}, false, errors.New("Cannot parse timestamp: " + text)
}

// ParseCreated reads metadata.created, and reports false when the finder would
// count the session as one without a time.
func ParseCreated(text string) (time.Time, bool) {
	t, _, err := parseISO(text)
	return t, err == nil
}

// ParseFilter reads a date to search before or after. A date without a time is
// its midnight.
func ParseFilter(text string) (time.Time, error) {
	t, _, err := parseISO(text)
	if err != nil {
		return time.Time{}, fmt.Errorf("parse date %q: %w", limits.ID(text), err)
	}
	return t, nil
}

// isPlain reports whether text looks like 2026-01-02T03:04:05, with or without a
// fraction, Z or an offset of hours and minutes. parseISO reads all texts of this form
// that it accepts in the same way as normalise and strptime.
func isPlain(text string) bool {
	const second = len("2006-01-02T15:04:05")
	if len(text) < second || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':' {
		return false
	}
	tail := text[second:]
	if tail != "" && tail[0] == '.' {
		tail = strings.TrimLeft(tail[1:], "0123456789")
	}
	if tail == "" || tail == "Z" {
		return true
	}
	return len(tail) == len("+00:00") && (tail[0] == '+' || tail[0] == '-') && tail[3] == ':'
}

// normalise replaces every Z by +00:00 and puts a colon into the four characters after
// the first +. As in the reference, the second step drops the text after a second +.
func normalise(text string) string {
	text = strings.ReplaceAll(text, "Z", "+00:00")
	local, offset, _ := strings.Cut(text, "+")
	offset, _, _ = strings.Cut(offset, "+")
	if utf8.RuneCountInString(offset) != 4 || strings.Contains(offset, ":") {
		return text
	}
	digits := []rune(offset)
	return local + "+" + string(digits[:2]) + ":" + string(digits[2:])
}

// strptimeForms matches the texts that Python's strptime accepts for
//
//	%Y-%m-%dT%H:%M:%S
//
// followed by .%f or nothing, and by %z, Z or nothing. Python ignores case,
// takes any Unicode digit where its own pattern says so, and one digit where
// two are usual; the Z can only be a z, because a Z was replaced. The colons
// of an offset are all there or none is.
var strptimeForms = sync.OnceValue(func() *regexp.Regexp {
	pattern := `^(\d{4})-(1[0-2]|0[1-9]|[1-9])-(3[01]|[12]\d|0[1-9]|[1-9]| [1-9])` +
		`[Tt](2[0-3]|[01]\d|\d):([0-5]\d|\d):(6[01]|[0-5]\d|\d)` +
		`(?:\.([0-9]{1,6}))?` +
		`(?:z|([+-])(?:(\d\d):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,6}))?)?|` +
		`(\d\d)([0-5]\d)(?:([0-5]\d)(?:\.(\d{1,6}))?)?))?$`
	return regexp.MustCompile(strings.ReplaceAll(pattern, `\d`, `\p{Nd}`))
})

// parseStrptime reads text, in which no Z is left, as the first of the
// reference's strptime forms that fits.
func parseStrptime(text string) (t time.Time, aware, ok bool) {
	m := strptimeForms().FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false, false
	}
	f := fields{
		date:  date{decimal(m[1]), decimal(m[2]), decimal(m[3])},
		clock: clockOf(m[4:8]),
	}
	sign, colons, bare := m[8], m[9:13], m[13:17]
	f.offset = clockOf(colons).length() + clockOf(bare).length() // one of them is zero
	if sign == "-" {
		f.offset = -f.offset
	}
	t, err := f.time()
	return t, err == nil && sign != "", err == nil
}

// clockOf returns the clock of hours, minutes, seconds and fraction; a missing part is
// zero.
func clockOf(part []string) clock {
	fraction := part[3]
	micro := decimal(fraction)
	for range 6 - len([]rune(fraction)) {
		micro *= 10
	}
	return clock{decimal(part[0]), decimal(part[1]), decimal(part[2]), micro}
}

// decimal returns the number of up to six digits of any script. Other characters, which
// can only be a space, are skipped.
func decimal(text string) int {
	n := 0
	for _, r := range text {
		if unicode.IsDigit(r) {
			n = n*10 + digitValue(r)
		}
	}
	return n
}

// digitValue returns the value of a decimal digit. Every script has its ten
// digits in a row, and rows that touch begin a new ten.
func digitValue(r rune) int {
	for _, row := range unicode.Nd.R16 {
		if rune(row.Lo) <= r && r <= rune(row.Hi) {
			return int(r-rune(row.Lo)) % 10
		}
	}
	for _, row := range unicode.Nd.R32 {
		if rune(row.Lo) <= r && r <= rune(row.Hi) {
			return int(r-rune(row.Lo)) % 10
		}
	}
	return 0
}

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
