package pytime

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/format/limits"
)

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
