package cli

import (
	"fmt"
	"slices"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
)

type deleteCommand struct {
	Sessions []string `arg:"" name:"session" help:"Id of the session, the beginning of one, or the path of its directory."`
	local
	removal
	WithChildren bool `help:"Take the sessions too that descend from it."`
}

// Help is shown below the usage.
func (deleteCommand) Help() string {
	return `Moves a session to the trash of its project, after a question. "sessions undo" brings it back, "sessions trash empty" removes it for good. A session that somebody runs is never taken; one that was written in the last ten minutes, that has children, or that the cloud lacks something of, only when --even names that.`
}

// Run deletes.
func (c *deleteCommand) Run(a *app) error {
	var st *sessionstore.Store
	var ids []string
	for _, ref := range c.Sessions {
		t, err := (here{ref, c.local}).find(a)
		if err != nil {
			return err
		}
		if st != nil && !sameDir(st.Dir(), t.store.Dir()) {
			return usageError{"the sessions are of several projects"}
		}
		st = t.store
		if !slices.Contains(ids, t.id) {
			ids = append(ids, t.id)
		}
	}
	plan, err := c.plan(a, st, ids, trash.Options{Reason: "delete", Descendants: c.WithChildren})
	if err != nil {
		return err
	}
	question := fmt.Sprintf("Delete session '%s'?", screen.Plain(ids[0]))
	if n := len(plan.Remove); n > 1 {
		question = fmt.Sprintf("Delete %s?", count(n, "session"))
	}
	result, err := c.carryOut(a, plan, question)
	if err == nil && result.done() && (len(plan.Keep) > 0 || len(result.failed) > 0) {
		err = exitCode(exitError)
	}
	return err
}

type cleanupCommand struct {
	local
	removal
	Days string `short:"d" default:"30" placeholder:"TIME" help:"Take sessions that were not saved for more than so many days, or since a time, as 12h, 7d, yesterday or 2026-08-01 (default: 30)."`
}

// Help is shown below the usage.
func (cleanupCommand) Help() string {
	return `Moves old sessions of this project to its trash, sub-sessions too, after a question. "sessions undo" brings them back. A session that somebody runs or that was written in the last ten minutes stays, and so does one with children that stay; each is named with its reason.

    sessions cleanup --days 90 --dry-run`
}

// Run cleans up.
func (c *cleanupCommand) Run(a *app) error {
	st, _, err := c.openStore(a)
	if err != nil {
		return err
	}
	cutoff, age, err := a.older("days", c.Days)
	if err != nil {
		return err
	}
	var ids []string
	if st != nil {
		infos, err := st.List(a.ctx, &sessionstore.ListOptions{All: true})
		if err != nil {
			return err
		}
		for _, info := range infos {
			if info.Modified.Before(cutoff) {
				ids = append(ids, info.ID)
			}
		}
	}
	plan := &trash.Plan{}
	if len(ids) > 0 {
		if plan, err = c.plan(a, st, ids, trash.Options{Reason: "cleanup: older than " + age}); err != nil {
			return err
		}
	}
	_, err = c.carryOut(a, plan, fmt.Sprintf("Delete %s (%s) older than %s?", count(len(plan.Remove), "session"), size(trash.Bytes(plan.Remove)), age))
	return err
}
