package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// count returns a number of things in words, as "3 calls".
func count(n int, thing string) string {
	if n != 1 && thing != "more" {
		thing += "s"
	}
	return number(n) + " " + thing
}

// number returns n with commas.
func number(n int) string {
	text := strconv.Itoa(n)
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	var groups []string
	for len(text) > 3 {
		groups = append([]string{text[len(text)-3:]}, groups...)
		text = text[:len(text)-3]
	}
	return sign + strings.Join(append([]string{text}, groups...), ",")
}

// size returns a number of bytes in words.
func size(bytes int64) string {
	if bytes < 1000 {
		return fmt.Sprintf("%d B", bytes)
	}
	value, unit := float64(bytes), 0
	for value >= 999.5 && unit < len(units) {
		value, unit = value/1000, unit+1
	}
	if value < 9.95 {
		return fmt.Sprintf("%.1f %s", value, units[unit-1])
	}
	return fmt.Sprintf("%.0f %s", value, units[unit-1])
}

var units = [...]string{"kB", "MB", "GB", "TB", "PB"}

// ago returns how long before now a time was.
func ago(now, then time.Time) string {
	d := now.Sub(then)
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", d/time.Minute)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh ago", d/time.Hour)
	case d < 30*24*time.Hour:
		return fmt.Sprintf("%dd ago", d/(24*time.Hour))
	case d < 365*24*time.Hour:
		return fmt.Sprintf("%dmo ago", min(11, d/(30*24*time.Hour)))
	}
	return fmt.Sprintf("%dy ago", d/(365*24*time.Hour))
}

// when writes a time for the eye or for a program.
func (a *app) when(t time.Time) string {
	switch {
	case t.IsZero():
		return ""
	case a.Terminal():
		return t.UTC().Format("2006-01-02 15:04")
	}
	return t.UTC().Format(time.RFC3339)
}

// moment is a time of a record, for the eye or as it stands there.
func (a *app) moment(text string) string {
	if at, err := time.Parse(time.RFC3339, text); err == nil && a.Terminal() {
		return a.when(at)
	}
	return text
}
