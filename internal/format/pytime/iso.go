package pytime

import (
	"time"
	"unicode/utf8"
)

// parseISO reads text as Python's datetime.fromisoformat does. That function looks at
// UTF-8 bytes up to a NUL, distinguishes the forms of a date by the bytes at 4 and 5, and
// ignores junk in front of an offset. Only between date and time may text be something
// other than UTF-8: half a surrogate pair.
func parseISO(text string) (t time.Time, aware bool, err error) {
	f, aware, ok := scanISO(text)
	if !ok {
		return time.Time{}, false, errForm
	}
	t, err = f.time()
	return t, aware && err == nil, err
}

func scanISO(text string) (f fields, aware, ok bool) {
	if len(text) < len("2006W01") {
		return fields{}, false, false
	}
	end := dateEnd(text)
	if f.date, ok = isoDate(text, end); !ok || end >= len(text) {
		return f, false, ok
	}

	start := min(end+separatorLen(text[end]), len(text))
	if !utf8.ValidString(text[start:]) {
		return f, false, false
	}
	zone := start
	for zone < len(text) && text[zone] != 'Z' && text[zone] != '+' && text[zone] != '-' {
		zone++
	}
	clock, junk, ok := isoClock(text, start, zone)
	f.clock = clock
	if !ok || zone == len(text) {
		return f, false, ok && !junk
	}
	f.offset, ok = isoOffset(text, zone)
	return f, true, ok
}

// dateEnd returns the end of the date. A week is followed by a day, or by any character
// and the time; when it is not clear which, Python guesses, and so does dateEnd. The text
// has at least seven bytes.
func dateEnd(text string) int {
	switch {
	case len(text) == 7:
		return 7 // 2006W01
	case text[4] == '-' && text[5] != 'W':
		return 10 // 2006-01-02
	case text[4] == '-':
		if byteAt(text, 8) != '-' || isDigit(byteAt(text, 10)) {
			return 8 // 2006-W01
		}
		return 10 // 2006-W01-1
	case text[4] != 'W':
		return 8 // 20060102
	}

	digits := 7
	for digits < len(text) && isDigit(text[digits]) {
		digits++
	}
	if digits < 9 {
		return digits // 2006W01 or 2006W011
	}
	return 7 + digits%2
}

// separatorLen returns the length of the character that begins with lead.
func separatorLen(lead byte) int {
	switch {
	case lead < 0x80:
		return 1
	case lead&0xf0 == 0xe0:
		return 3
	case lead&0xf0 == 0xf0:
		return 4
	}
	return 2
}

// isoDate reads the date in text, which ends at end.
func isoDate(text string, end int) (date, bool) {
	year, ok := number(text, 0, 4)
	if !ok {
		return date{}, false
	}
	gap := 0
	if text[4] == '-' {
		gap = 1
	}
	next := 4 + gap
	if byteAt(text, next) == 'W' {
		return isoWeek(text, year, next+1, end, gap)
	}

	month, ok := number(text, next, 2)
	next += 2
	if !ok || gap == 1 && byteAt(text, next) != '-' {
		return date{}, false
	}
	day, ok := number(text, next+gap, 2)
	return date{year, month, day}, ok
}

// isoWeek reads the week at start and the day after it, Monday by default.
func isoWeek(text string, year, start, end, gap int) (date, bool) {
	week, ok := number(text, start, 2)
	next := start + 2
	day := 1
	if ok && next < end {
		if gap == 1 && byteAt(text, next) != '-' {
			return date{}, false
		}
		day, ok = number(text, next+gap, 1)
	}
	if !ok || day < 1 || day > 7 {
		return date{}, false
	}

	// The fourth of January is always in the first week.
	fourth := time.Date(year, time.January, 4, 0, 0, 0, 0, time.UTC)
	monday := 4 - (int(fourth.Weekday())+6)%7
	t := time.Date(year, time.January, monday+(week-1)*7+day-1, 0, 0, 0, 0, time.UTC)
	if y, w := t.ISOWeek(); y != year || w != week {
		return date{}, false
	}
	return date{t.Year(), int(t.Month()), t.Day()}, true
}

// isoOffset reads the offset at zone, a Z or a sign. Python drops the fraction
// of an offset without whole seconds.
func isoOffset(text string, zone int) (time.Duration, bool) {
	if text[zone] == 'Z' {
		return 0, byteAt(text, zone+1) == 0
	}
	c, junk, ok := isoClock(text, zone+1, len(text))
	if !ok || junk {
		return 0, false
	}
	offset := c.length()
	if offset < time.Second {
		return 0, true
	}
	if text[zone] == '-' {
		offset = -offset
	}
	return offset, true
}

// isoClock reads hours, minutes, seconds and a fraction, all but the hours optional, from
// text[start:end]. It reads the byte behind end, too: junk is true unless nothing or a
// NUL follows the clock.
func isoClock(text string, start, end int) (c clock, junk, ok bool) {
	next, colon := start, false
	for i, part := range [...]*int{&c.hour, &c.minute, &c.second} {
		if *part, ok = number(text, next, 2); !ok {
			return clock{}, false, false
		}
		mark := byteAt(text, next+2)
		next += 3
		if i == 0 {
			colon = mark == ':'
		}
		if next >= end {
			return c, mark != 0, true
		}
		if mark == '.' || mark == ',' {
			break
		}
		if !colon {
			next--
		} else if mark != ':' {
			return clock{}, false, false
		}
	}

	digits := min(end-next, 6)
	c.micro, ok = number(text, next, digits)
	if !ok {
		return clock{}, false, false
	}
	for range 6 - digits {
		c.micro *= 10
	}
	next += digits
	for isDigit(byteAt(text, next)) {
		next++
	}
	return c, byteAt(text, next) != 0, true
}

// number reads n decimal digits at start.
func number(text string, start, n int) (value int, ok bool) {
	if start+n > len(text) {
		return 0, false
	}
	for i := range n {
		b := text[start+i]
		if !isDigit(b) {
			return 0, false
		}
		value = value*10 + int(b-'0')
	}
	return value, true
}

// byteAt returns the byte i, or NUL behind the end, as in a C string.
func byteAt(text string, i int) byte {
	if i >= len(text) {
		return 0
	}
	return text[i]
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
