package pytime

import (
	"fmt"
	"strconv"
	"time"
)

// fractionalOffset is the form of the name of a zone whose offset has a
// fraction of a second.
const fractionalOffset = "+00:00:00.000000"

// Format writes t as Python's datetime.isoformat does for an aware time: up to
// the microsecond, which is left out when zero, and with an offset, even in
// UTC. Seconds of the offset appear when they are not zero. The year should be
// in 1 to 9999.
func Format(t time.Time) string {
	offset := offsetOf(t)
	wall := t.UTC().Add(offset)
	layout := "2006-01-02T15:04:05"
	if wall.Nanosecond() >= 1000 {
		layout = "2006-01-02T15:04:05.000000"
	}
	return wall.Format(layout) + formatOffset(offset)
}

// FormatMillis writes t in UTC with exactly three digits of the second, the
// rest cut off, as the timestamp of a message has them.
func FormatMillis(t time.Time) string {
	return t.UTC().Format("2006-01-02T15:04:05.000+00:00") // the offset is no part of a layout, but plain text
}

// Stamp writes t as RFC 3339 in UTC with milliseconds, the rest cut off, as JavaScript does.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// formatOffset writes an offset as +HH:MM, +HH:MM:SS or +HH:MM:SS.ffffff.
func formatOffset(offset time.Duration) string {
	sign := '+'
	if offset < 0 {
		sign, offset = '-', -offset
	}
	text := fmt.Sprintf("%c%02d:%02d", sign, offset/time.Hour, offset/time.Minute%60)
	micro := offset % time.Second / time.Microsecond
	if second := offset / time.Second % 60; second != 0 || micro != 0 {
		text += fmt.Sprintf(":%02d", second)
	}
	if micro != 0 {
		text += fmt.Sprintf(".%06d", micro)
	}
	return text
}

// location returns the zone for an offset of less than a day.
func location(offset time.Duration) *time.Location {
	if offset == 0 {
		return time.UTC
	}
	second := int(offset / time.Second)
	if offset%time.Second != 0 {
		return time.FixedZone(formatOffset(offset), second)
	}
	return time.FixedZone("", second)
}

// offsetOf returns the offset of t, with the fraction that location put into
// the name of the zone.
func offsetOf(t time.Time) time.Duration {
	name, second := t.Zone()
	offset := time.Duration(second) * time.Second
	if len(name) != len(fractionalOffset) {
		return offset
	}
	micro, err := strconv.Atoi(name[len("+00:00:00."):])
	if err != nil {
		return offset
	}
	exact := offset + time.Duration(micro)*time.Microsecond
	if name[0] == '-' {
		exact = offset - time.Duration(micro)*time.Microsecond
	}
	if formatOffset(exact) != name {
		return offset
	}
	return exact
}
