package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	standard "slices"
	"strconv"
	"strings"

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
	if c.Limit < 0 { // the reference leaves out as many at the end, which nobody means
		return usageError{fmt.Sprintf("--limit: %d is negative; write how many to show at most", c.Limit)}
	}
	p, err := a.known(c.where)
	if err != nil {
		return err
	}
	q, err := c.query(a, p)
	if err != nil {
		return err
	}
	var found []sessionstore.Found
	if c.Limit != 0 {
		bar := a.Progress("searching", 0)
		if match := q.Match; match != nil {
			q.Match = func(ctx context.Context, st *sessionstore.Store, id string) (bool, error) {
				defer bar.Step(1)
				return match(ctx, st, id)
			}
		}
		found, err = p.Find(a.ctx, q)
		bar.Done()
	}
	if err := a.ctx.Err(); err != nil {
		return err
	}
	a.warn(err)
	if a.json {
		return a.foundJSON(p, found)
	}
	c.table(a, p, found)
	return nil
}

func (c *findCommand) query(a *app, p *sessionstore.Projects) (q sessionstore.Query, err error) {
	q = sessionstore.Query{Keyword: c.Keyword, Limit: c.Limit}
	if a.json { // as the reference: nothing is found there
		q.Project, err = c.slug(p.Dir(), false)
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

// metadataOf reads the metadata of a session that was found.
func (a *app) metadataOf(p *sessionstore.Projects, f sessionstore.Found) (sessionstore.Metadata, error) {
	st, err := p.Store(f.Project)
	if err != nil {
		return sessionstore.Metadata{}, err
	}
	md, err := st.Metadata(a.ctx, filepath.Base(f.Dir))
	if errors.Is(err, sessionstore.ErrNotFound) { // it was removed since
		err = nil
	}
	return md, err
}

func (a *app) foundJSON(p *sessionstore.Projects, found []sessionstore.Found) error {
	if a.typed {
		return a.foundTyped(found)
	}
	all := list{}
	for _, f := range found {
		md, err := a.metadataOf(p, f)
		if err != nil {
			return err
		}
		id := quoted(f.ID)
		if raw, ok := md.Lookup("session_id"); ok {
			id = raw
		}
		all = append(all, object{
			{"session_id", id},
			{"path", quoted(f.Dir)},
			{"project", quoted(f.Project)},
			{"created", memberOf(md, "created")},
			{"bundle", memberOf(md, "bundle")},
			{"model", memberOf(md, "model")},
		})
	}
	return a.writeJSON(all, jsonIndent)
}

// none tells that nothing was found.
func (c *findCommand) none() string {
	if c.After == "" && c.Before == "" && c.Keyword == "" && c.Status == "" && c.Project == "" {
		return "No sessions found."
	}
	return `No session fits the flags; "sessions list --all-projects" shows all.`
}

func (c *findCommand) table(a *app, p *sessionstore.Projects, found []sessionstore.Found) {
	if len(found) == 0 {
		a.Notef("%s", c.none())
		return
	}
	var rows [][]string
	var ids []string
	for _, f := range found {
		ids = append(ids, filepath.Base(f.Dir))
		s, _ := a.summaryIn(f.Dir) // shown is what was found
		created := f.CreatedText
		if !f.Created.IsZero() {
			created = a.when(f.Created)
		}
		rows = append(rows, []string{filepath.Base(f.Dir), markedTitle(s), f.Project, created, strconv.Itoa(s.Prompts), strings.TrimPrefix(f.Bundle, "bundle:"), f.Model})
	}
	a.Table([]screen.Column{
		{Title: "Session", Min: enough(ids), Whole: true, Tint: screen.In(screen.Green)},
		{Title: "Title", Min: 20, Tint: screen.In(screen.Cyan)},
		{Title: "Project", Min: 10, Drop: 2, Tint: screen.In(screen.Magenta)},
		{Title: "Created", Drop: 1, Tint: screen.In(screen.Yellow)},
		{Title: "Prompts", Right: true, Drop: 5},
		{Title: "Bundle", Min: 10, Drop: 4},
		{Title: "Model", Min: 16, Drop: 3},
	}, rows)
}

// shortID is how much of an id is enough for people, where it tells one from
// others.
const shortID = 8

// enough returns how much of ids tells them apart.
func enough(ids []string) int {
	ids = standard.Compact(standard.Sorted(standard.Values(ids))) // no length tells one id in two projects apart
	n := shortID
	for i := 1; i < len(ids); i++ {
		same := 0
		for same < min(len(ids[i-1]), len(ids[i])) && ids[i-1][same] == ids[i][same] {
			same++
		}
		n = max(n, same+1)
	}
	return n
}
