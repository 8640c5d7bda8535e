package cli

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// ambiguousError is an [sessionstore.AmbiguousError] with the directories of its
// matches.
type ambiguousError struct {
	*sessionstore.AmbiguousError
	dirs []string
}

func (e ambiguousError) Unwrap() error { return e.AmbiguousError }

// ambiguousIn adds to err, where it is of that kind, the sessions directory in
// which the matches are.
func ambiguousIn(dir string, err error) error {
	found := (*sessionstore.AmbiguousError)(nil)
	if !errors.As(err, &found) {
		return err
	}
	e := ambiguousError{AmbiguousError: found}
	for _, id := range found.Matches {
		e.dirs = append(e.dirs, filepath.Join(dir, id))
	}
	return e
}

// maxCandidates is how many sessions are told that an ambiguous one may be.
const maxCandidates = 10

// candidates returns the sessions that were meant by an ambiguous one, as far as
// they can be read.
func (a *app) candidates(err error) (all []sessionstore.ProjectSummary) {
	found, in := (*sessionstore.AmbiguousError)(nil), ambiguousError{}
	var dirs []string
	switch {
	case errors.As(err, &in):
		dirs = in.dirs
	case errors.As(err, &found):
		dirs = found.Matches
	}
	for _, dir := range dirs[:min(maxCandidates, len(dirs))] {
		if !filepath.IsAbs(dir) {
			continue
		}
		if s, err := a.summaryIn(dir); err == nil {
			all = append(all, sessionstore.ProjectSummary{Project: filepath.Base(filepath.Dir(filepath.Dir(dir))), Summary: s})
		}
	}
	return all
}

// summaryIn returns the summary of the session in a directory.
func (a *app) summaryIn(dir string) (s sessionstore.Summary, err error) {
	st, err := sessionstore.Open(filepath.Dir(dir), nil)
	if err != nil {
		return s, err
	}
	defer func() { err = join(err, st.Close()) }()
	return st.Summary(a.ctx, filepath.Base(dir))
}

// noteCandidates tells which sessions may be meant.
func (a *app) noteCandidates(all []sessionstore.ProjectSummary) {
	twins := sameID(all)
	for _, s := range all {
		words := []string{screen.Plain(s.ID), s.Changed.Local().Format(minute), markedTitle(s.Summary)}
		if twins {
			words = slices.Insert(words, 2, screen.Plain(s.Project))
		}
		line := strings.Join(words, "  ")
		if a.Terminal() {
			line = screen.Fit(line, max(a.Width()-2, len(s.ID)))
		}
		a.Notef("  %s", line)
	}
	if twins {
		a.Notef("  --project=NAME says which is meant")
	}
}

// sameID reports whether an id is in all more than once: in several projects.
func sameID(all []sessionstore.ProjectSummary) bool {
	seen := map[string]bool{}
	for _, s := range all {
		if seen[s.ID] {
			return true
		}
		seen[s.ID] = true
	}
	return false
}

func candidatesJSON(all []sessionstore.ProjectSummary) list {
	l := list{}
	for _, s := range all {
		l = append(l, object{
			{"session_id", quoted(s.ID)},
			{"project", quoted(s.Project)},
			{"title", quoted(s.Title)},
			{"modified", quoted(s.Changed.UTC().Format(time.RFC3339))},
		})
	}
	return l
}
