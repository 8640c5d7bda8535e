package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// slug returns the name of the project that w names, or of the working directory when it
// names none and here is set. A project is named by its name, by its directory, or as lists
// show it.
func (w where) slug(a *app, p *projects.Projects, here bool) (string, error) {
	switch {
	case w.Project == "" && !here:
		return "", nil
	case w.Project == "":
		return slugHere()
	}
	slug, dir := w.Project, w.Project
	name := filepath.Base(dir) == dir && dir != "." && dir != ".."
	if name && isDir(filepath.Join(p.Dir(), slug)) {
		return slug, nil
	}
	if !name || isDir(dir) {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return "", err
		}
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		if slug = sessionstore.ProjectSlug(dir); isDir(filepath.Join(p.Dir(), slug)) {
			return slug, nil
		}
	}
	shown, err := w.shown(a, p, slug)
	switch {
	case err != nil || len(shown) == 0: // nothing will be found there
		return slug, err
	case len(shown) > 1:
		return "", fmt.Errorf("--project=%s is the name of %s: %s", screen.Plain(w.Project), count(len(shown), "project"), strings.Join(a.dirsOf(shown), ", "))
	}
	return shown[0], nil
}

// errNoDirectory is the error of a command for the project of a working directory that was removed.
var errNoDirectory = errors.New("the working directory was removed: --project names a project, and --all-projects looks in all")

// slugHere returns the name of the project of the working directory. Where that was removed,
// the shell still knows its path.
func slugHere() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		dir = os.Getenv("PWD")
	}
	if real, failed := filepath.EvalSymlinks(dir); failed == nil && err == nil {
		dir = real
	}
	if !filepath.IsAbs(dir) {
		return "", errNoDirectory
	}
	return sessionstore.ProjectSlug(dir), nil
}

// shown returns the projects that lists show by the name in w, and those whose names differ
// from slug only in form.
func (w where) shown(a *app, p *projects.Projects, slug string) ([]string, error) {
	slugs, err := p.Slugs(a.ctx)
	place, want := a.places(slugs), norm.NFC.String(w.Project)
	all := formsOf(slugs, slug)
	for _, other := range slugs {
		if want == norm.NFC.String(place(other)) || want == norm.NFC.String(filepath.Base(a.workDir(other))) {
			all = append(all, other)
		}
	}
	slices.Sort(all)
	return slices.Compact(all), err
}

// formsOf returns those of the names that are name, or differ from it only in the form of their
// accents, which Unicode composes or not.
func formsOf(names []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(other string) bool { return norm.NFC.String(other) != norm.NFC.String(name) })
}

func beyondASCII(r rune) bool { return r >= utf8.RuneSelf }

// inForm returns a name with the form of its accents, for people, to whom both forms look alike.
func inForm(name string) string {
	if norm.NFC.IsNormalString(name) {
		return name + " (composed)"
	}
	return name + " (decomposed)"
}

// dirsOf returns the directories of projects for people, and the names of those whose
// directories are not known.
func (a *app) dirsOf(slugs []string) (all []string) {
	for _, slug := range slugs {
		dir := cmp.Or(a.workDir(slug), slug)
		if len(formsOf(slugs, slug)) > 1 {
			dir = inForm(dir)
		}
		all = append(all, screen.Plain(dir))
	}
	return all
}

// existing returns the result of slug, and fails when w names a project that does not exist:
// neither a project of that name, nor a directory that could have sessions. Where the working
// directory has no project, it returns the one that differs from it only in form, and it notes
// where there are both.
func (w where) existing(a *app, p *projects.Projects, here bool) (string, error) {
	slug, err := w.slug(a, p, here)
	if err != nil || slug == "" {
		return slug, err
	}
	there := isDir(filepath.Join(p.Dir(), slug))
	found := there || w.Project == "" || isDir(w.Project)
	if found && !strings.ContainsFunc(slug, beyondASCII) {
		return slug, nil
	}
	all, err := p.Slugs(a.ctx)
	if err != nil {
		return "", err
	}
	switch forms := formsOf(all, slug); {
	case len(forms) > 1:
		a.Notef("%s %s differ only in the form of their accents: %s", a.PaintError(screen.Yellow, "note:"), count(len(forms), "project"), strings.Join(a.dirsOf(forms), ", "))
	case len(forms) == 1 && !there:
		return forms[0], nil
	}
	if found {
		return slug, nil
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
	slug, err := where(l).slug(a, p, true)
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
	return errors.New(text + importHint)
}

// importHint is what an empty list says at its end.
var importHint = "\n" + `"sessions import --from=all" brings the conversations of ` + toolTitles("and") + "."

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
