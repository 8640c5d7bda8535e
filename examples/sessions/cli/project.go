package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
)

// existing returns the result of slug, and fails when w names a project that does not
// exist: neither a project of that name, nor a directory that could have sessions.
func (w where) existing(a *app, p *projects.Projects, here bool) (string, error) {
	slug, err := w.slug(p.Dir(), here)
	if err != nil || w.Project == "" || isDir(filepath.Join(p.Dir(), slug)) || isDir(w.Project) {
		return slug, err
	}
	all, err := p.Slugs(a.ctx)
	if err != nil {
		return "", err
	}
	hint := `"sessions list --all-projects" shows which there are`
	if similar := like(all, slug); similar != "" {
		hint = "did you mean --project=" + screen.Plain(similar) + "?"
	}
	return "", fmt.Errorf("no project %s in %s; %s", screen.Plain(w.Project), screen.Plain(p.Dir()), hint)
}

// like returns the one project whose name holds the words of name, or "".
func like(all []string, name string) string {
	name = strings.ToLower(strings.Trim(name, "-"))
	similar := slices.DeleteFunc(slices.Clone(all), func(slug string) bool {
		return name == "" || !strings.Contains(strings.ToLower(slug), name)
	})
	if len(similar) == 1 {
		return similar[0]
	}
	return ""
}

// nothingHere returns the error for a project without sessions: the named one, or the
// project of the working directory. It names the command that shows the sessions of
// other projects, if there are any.
func (l local) nothingHere(a *app) error {
	p, err := a.known(where(l))
	if err != nil {
		return err
	}
	slug, err := where(l).slug(p.Dir(), true)
	if err != nil {
		return err
	}
	all, err := p.Slugs(a.ctx)
	if err != nil {
		return err
	}
	text := "No sessions found in project " + screen.Plain(slug) + "."
	if other := len(all); other > 0 {
		text += fmt.Sprintf(` "sessions list --all-projects" shows those of %s.`, count(other, "project"))
	}
	return errors.New(text)
}

const timeForms = "a date as 2026-08-01, a time as 2026-08-01T12:30, an age as 12h, 7d or 2w, today or yesterday"

var days = regexp.MustCompile(`^(\d{1,5})([dw])$`)

// date reads the time that a flag names, as people write it: an age (30m, 12h,
// 7d, 2w), today or yesterday, and all that [projects.ParseDate] takes. Days and times
// without an offset are in the time zone of a.now, which is this machine's unless
// --tz names another. "" is the zero time.
func (a *app) date(flag, text string) (time.Time, error) {
	at, ok := a.readTime(text)
	if !ok && text != "" {
		return at, notTime(flag, text, "write "+timeForms)
	}
	return at, nil
}

func notTime(flag, text, hint string) error {
	const most = 40 // columns
	return usageError{fmt.Sprintf("--%s: %q is not a time; %s", flag, screen.Fit(text, most), hint)}
}

func (a *app) readTime(text string) (time.Time, bool) {
	now := a.now()
	day := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	switch word := strings.ToLower(text); word {
	case "today":
		return onClock(day, now.Location()), true
	case "yesterday":
		return onClock(day.AddDate(0, 0, -1), now.Location()), true
	default:
		if d, ok := span(word); ok {
			return now.Add(-d), true
		}
	}
	at, err := projects.ParseDate(text)
	if _, bad := projects.ParseDate(text + "+00:00"); bad == nil { // it has no offset
		at = onClock(at, now.Location())
	}
	return at, err == nil
}

// onClock returns the first instant at which the clocks of zone show wall, a time in
// UTC. Where they skip that time, it returns the instant at which they do.
func onClock(wall time.Time, zone *time.Location) time.Time {
	at := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), zone)
	begin, end := at.ZoneBounds()
	_, offset := at.Zone()
	switch shown := at.Add(time.Duration(offset) * time.Second); {
	case shown.Before(wall):
		return end
	case shown.After(wall):
		return begin
	}
	_, former := begin.Add(-1).Zone()
	if twin := at.Add(time.Duration(offset-former) * time.Second); twin.Before(begin) {
		return twin
	}
	return at
}

// span reads an age: a number of days or weeks, or what [time.ParseDuration] takes.
func span(word string) (time.Duration, bool) {
	const most = 99_999 // days; a Duration holds some more
	if m := days.FindStringSubmatch(word); m != nil {
		n, err := strconv.Atoi(m[1])
		if m[2] == "w" {
			n *= 7
		}
		return time.Duration(n) * 24 * time.Hour, err == nil && n <= most
	}
	d, err := time.ParseDuration(word)
	return d, err == nil && d >= 0 && word != "0"
}

// age reads how long ago the time is that a flag names.
func (a *app) age(flag, text string) (time.Duration, error) {
	if d, ok := span(strings.ToLower(text)); ok {
		return d, nil
	}
	at, ok := a.readTime(text)
	if !ok {
		return 0, notTime(flag, text, "write "+timeForms)
	}
	return a.now().Sub(at), nil
}

// older reads the time before which something is old: a number of days, as the
// reference takes it, or a time. words describes it, as "30 days", "12h" or
// "yesterday". The errors of a number are the reference's.
func (a *app) older(flag, text string) (cutoff time.Time, words string, err error) {
	n, err := strconv.Atoi(text)
	if err == nil || errors.Is(err, strconv.ErrRange) {
		cutoff, err = daysBefore(a.now(), n)
		return cutoff, count(n, "day"), err
	}
	at, ok := a.readTime(text)
	switch {
	case !ok:
		return at, "", notTime(flag, text, "write a number of days, "+timeForms)
	case at.After(a.now()):
		return at, "", usageError{fmt.Sprintf("--%s: %s is yet to come; write a number of days, or a time before now", flag, text)}
	}
	return at, text, nil
}

func daysBefore(now time.Time, n int) (time.Time, error) {
	const most = 999_999_999
	if n < 0 {
		return time.Time{}, errors.New("days must be non-negative")
	}
	cutoff := now.UTC().AddDate(0, 0, -min(n, most))
	if cutoff.Year() < 1 {
		return time.Time{}, errors.New("date value out of range")
	}
	return cutoff, nil
}
