package cli

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

var age = regexp.MustCompile(`^(\d{1,5})([mhdw])$`)

// date reads a date as people write it: an age (30m, 12h, 7d, 2w), today or
// yesterday, which begin at midnight here, and all that [sessionstore.ParseDate]
// takes. "" is the zero time.
func (a *app) date(text string) (time.Time, error) {
	now := a.now()
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch word := strings.ToLower(text); {
	case word == "":
		return time.Time{}, nil
	case word == "today":
		return midnight, nil
	case word == "yesterday":
		return midnight.AddDate(0, 0, -1), nil
	case age.MatchString(word):
		m := age.FindStringSubmatch(word)
		n, err := strconv.Atoi(m[1])
		switch m[2] {
		case "m":
			return now.Add(-time.Duration(n) * time.Minute), err
		case "h":
			return now.Add(-time.Duration(n) * time.Hour), err
		case "d":
			return now.AddDate(0, 0, -n), err
		}
		return now.AddDate(0, 0, -7*n), err
	}
	at, err := sessionstore.ParseDate(text)
	if err != nil {
		return at, fmt.Errorf("%w; write a date or time as 2026-08-01 or 2026-08-01T12:30, an age as 12h, 7d or 2w, today, or yesterday", err)
	}
	return at, nil
}
