package cli

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

type findCommand struct {
	forScripts `kong:"-"`
	everywhere
	After   string `placeholder:"DATE" help:"Created after this date, as 2026-08-01, 2026-08-01T12:00:00+02:00, 7d or yesterday."`
	Before  string `placeholder:"DATE" help:"Created before this date."`
	Keyword string `placeholder:"TERM" help:"The transcript holds this text, in upper or lower case."`
	Status  string `enum:",healthy,broken" default:"" placeholder:"HEALTH" help:"healthy or broken; reads every transcript."`
	Limit   int    `default:"50" placeholder:"N" help:"At most so many (default: 50)."`
}

// Help is shown below the usage.
func (findCommand) Help() string {
	return `Finds sessions of all projects, sub-sessions too, those created last first. Sessions and projects that cannot be read are told in a line on standard error and hide no other. The exit code is then 1, unless a file is merely damaged. In a pipe the answer is JSON.`
}

// Run finds.
func (c *findCommand) Run(a *app) error {
	if err := notNegative("limit", c.Limit); err != nil { // the reference leaves out as many at the end, which no user wants
		return err
	}
	p, err := a.known(c.where)
	if err != nil {
		return err
	}
	q, err := c.query(a, p)
	if err != nil {
		return err
	}
	var found []projects.Found
	if c.Limit != 0 {
		bar := a.Progress("searching", 0)
		if match := q.Match; match != nil {
			q.Match = func(ctx context.Context, st *sessionstore.Store, id string) (bool, error) {
				defer bar.Step(1)
				return match(ctx, st, id)
			}
		}
		found, err = findForms(a.ctx, p, q)
		bar.Done()
	}
	if err := a.ctx.Err(); err != nil {
		return err
	}
	a.warn(err)
	if a.json {
		return a.foundJSON(p, found)
	}
	c.table(a, found)
	return nil
}

// findForms finds the sessions that hold the keyword, with its accents composed or decomposed.
func findForms(ctx context.Context, p *projects.Projects, q projects.Query) (found []projects.Found, failed error) {
	forms := []string{q.Keyword, norm.NFC.String(q.Keyword), norm.NFD.String(q.Keyword)}
	slices.Sort(forms)
	forms = slices.Compact(forms)
	for _, q.Keyword = range forms {
		some, err := p.Find(ctx, q)
		found, failed = append(found, some...), cmp.Or(failed, err)
	}
	if len(forms) == 1 {
		return found, failed
	}
	slices.SortStableFunc(found, func(a, b projects.Found) int {
		return cmp.Or(b.Created.Compare(a.Created), strings.Compare(b.CreatedText, a.CreatedText), strings.Compare(a.Dir, b.Dir))
	})
	found = slices.CompactFunc(found, func(a, b projects.Found) bool { return a.Dir == b.Dir })
	if q.Limit > 0 {
		found = found[:min(q.Limit, len(found))]
	}
	return found, failed
}

func (c *findCommand) query(a *app, p *projects.Projects) (q projects.Query, err error) {
	q = projects.Query{Keyword: c.Keyword, Limit: c.Limit}
	if a.json { // as the reference: nothing is found there
		q.Project, err = c.slug(a, p, false)
	} else {
		q.Project, err = c.existing(a, p, false)
	}
	if err != nil {
		return q, err
	}
	if q.After, err = a.date("after", c.After); err == nil {
		q.Before, err = a.date("before", c.Before)
	}
	if err != nil { // to the reference, a wrong date is no wrong argument
		return q, errors.New(err.Error())
	}
	switch c.Status {
	case "healthy":
		q.Match = slice.Healthy
	case "broken":
		q.Match = slice.Broken
	}
	return q, nil
}

// foundJSON answers as amplifier-session does.
func (a *app) foundJSON(p *projects.Projects, found []projects.Found) error {
	all := list{}
	for _, f := range found {
		st, err := p.Store(f.Project)
		if err != nil {
			return err
		}
		md, err := st.Metadata(a.ctx, filepath.Base(f.Dir))
		if err != nil && !errors.Is(err, sessionstore.ErrNotFound) { // it was removed since
			return err
		}
		all = append(all, referenceMembers(md, f.ID, f.Dir, f.Project))
	}
	return a.writeJSON(all)
}

func (c *findCommand) table(a *app, found []projects.Found) {
	if len(found) == 0 {
		a.Notef(`No session fits the flags; "sessions list --all-projects" shows all.`)
		return
	}
	var rows [][]string
	for _, f := range found {
		s, _ := a.summaryIn(f.Dir) // a session without a summary is shown too
		created := f.CreatedText
		if !f.Created.IsZero() {
			created = a.when(f.Created)
		}
		rows = append(rows, []string{filepath.Base(f.Dir), markedTitle(s), f.Project, created, strconv.Itoa(s.Prompts), strings.TrimPrefix(f.Bundle, "bundle:"), f.Model})
	}
	project := a.projectColumn(2)
	project.Once = false
	a.Table([]screen.Column{
		a.idColumn(),
		{Title: "Title", Min: 30, Tint: screen.In(screen.Cyan)},
		project,
		{Title: "Created", Drop: 1, Tint: screen.In(screen.Yellow)},
		{Title: "Prompts", Right: true, Drop: 5},
		{Title: "Bundle", Min: 10, Drop: 4},
		{Title: "Model", Min: 16, Drop: 3},
	}, rows)
}

// ambiguousError is an [sessionstore.AmbiguousError] with the directories of its
// matches.
type ambiguousError struct {
	*sessionstore.AmbiguousError
	dirs []string
}

func (e ambiguousError) Unwrap() error { return e.AmbiguousError }

// ambiguousIn adds to a [sessionstore.AmbiguousError] the directories of its matches,
// which are in the sessions directory dir. It returns other errors unchanged.
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

// maxCandidates limits the sessions that are listed for an ambiguous reference.
const maxCandidates = 10

// candidates returns the sessions that an ambiguous reference may mean, as far as they
// can be read, at most maxCandidates.
func (a *app) candidates(err error) (all []projects.Summary) {
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
			all = append(all, projects.Summary{Project: filepath.Base(filepath.Dir(filepath.Dir(dir))), Summary: s})
		}
	}
	return all
}

// summaryIn returns the summary of the session in a directory.
func (a *app) summaryIn(dir string) (s sessionstore.Summary, err error) {
	st, err := sessionstore.Open(filepath.Dir(dir), a.storeOptions())
	if err != nil {
		return s, err
	}
	defer func() { err = join(err, st.Close()) }()
	return st.Summary(a.ctx, filepath.Base(dir))
}

// noteCandidates lists the sessions that an ambiguous reference may mean.
func (a *app) noteCandidates(all []projects.Summary) {
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
func sameID(all []projects.Summary) bool {
	seen := map[string]bool{}
	for _, s := range all {
		if seen[s.ID] {
			return true
		}
		seen[s.ID] = true
	}
	return false
}
