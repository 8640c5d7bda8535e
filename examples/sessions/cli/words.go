package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// count returns a number of things in words, as "3 calls".
func count(n int, thing string) string {
	if n != 1 && thing != "more" {
		thing += "s"
	}
	return number(n) + " " + thing
}

// notNegative refuses a number of things that a flag gives.
func notNegative(flag string, n int) error {
	if n < 0 {
		return usageError{fmt.Sprintf("--%s: %d is negative; write how many to show at most, 0 for all", flag, n)}
	}
	return nil
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

// clock writes a time as a layout has it: on a terminal in this machine's time zone, in
// a pipe in UTC. It writes nothing for the zero time.
func (a *app) clock(t time.Time, layout string) string {
	switch {
	case t.IsZero():
		return ""
	case a.Terminal():
		return t.Local().Format(layout)
	}
	return t.UTC().Format(layout)
}

// minute is how a person is shown a time.
const minute = "2006-01-02 15:04"

// when writes a time for the eye or for a program.
func (a *app) when(t time.Time) string {
	if a.Terminal() {
		return a.clock(t, minute)
	}
	return a.clock(t, time.RFC3339)
}

// moment is a time of a record, for the eye or as it stands there.
func (a *app) moment(text string) string {
	if at, err := sessionstore.ParseDate(text); err == nil && a.Terminal() {
		return a.when(at)
	}
	return text
}
