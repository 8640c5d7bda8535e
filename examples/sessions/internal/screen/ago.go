package screen

import (
	"fmt"
	"time"
)

// Ago returns how long before now a time was, in at most eight columns: the month
// of one that was long ago, nothing for the zero time.
func Ago(now, then time.Time) string {
	const day = 24 * time.Hour
	d := now.Sub(then)
	switch {
	case then.IsZero():
		return ""
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d m ago", d/time.Minute)
	case d < day:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	case d < 100*day:
		return fmt.Sprintf("%d d ago", d/day)
	}
	return then.In(now.Location()).Format("Jan 2006")
}
