package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

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
	return `Moves a session to the trash of its project, after a question. "sessions undo" brings it back, "sessions trash empty" removes it for good. A session that somebody runs is never taken; one that was written in the last ten minutes, that has children, or that the remote lacks something of, only when --even names that.`
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
	done := result.status != "planned" && result.status != "cancelled"
	if err == nil && done && (len(plan.Keep) > 0 || len(result.failed) > 0) {
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

// removal are the flags of the commands that remove sessions.
type removal struct {
	Force  bool         `short:"f" help:"Do not ask."`
	DryRun bool         `help:"Show what would go and what would stay, and change nothing."`
	Even   []trash.Kind `sep:"," enum:"recent,unsynced,parent" placeholder:"WHAT" help:"Take what would stay: recent (written a moment ago), unsynced (the remote lacks something), parent (of sessions that stay). Several with commas."`

	bar *screen.Progress // of the current step
}

// plan plans what goes to the trash.
func (c *removal) plan(a *app, st *sessionstore.Store, ids []string, o trash.Options) (*trash.Plan, error) {
	o.Allow = c.Even
	if !slices.Contains(c.Even, trash.Unsynced) {
		o.Unsynced = a.unsynced(st)
	}
	c.bar = a.Progress("looking", len(ids))
	o.Progress = func(done, total int) { c.bar.At(done, total) }
	plan, err := trash.NewPlan(a.ctx, st, ids, &o)
	c.bar.Done()
	a.noteAway()
	return plan, err
}

// removed is the outcome of a plan.
type removed struct {
	status  string // deleted, planned, cancelled, refused or nothing
	receipt trash.Receipt
	failed  []trash.Failure
}

// carryOut shows a plan, asks, and runs it.
func (c *removal) carryOut(a *app, plan *trash.Plan, question string) (r removed, err error) {
	switch {
	case len(plan.Remove) == 0 && len(plan.Keep) == 0:
		r.status = "nothing"
	case c.DryRun:
		r.status = "planned"
	case len(plan.Remove) == 0:
		r.status = "refused"
	default:
		r.status = "deleted"
	}
	if c.DryRun && !a.json {
		a.planTable(plan)
		return r, nil
	}
	if !a.json {
		a.staying(plan.Keep, 10)
	}
	if r.status == "deleted" {
		yes, err := a.agrees(question, c.Force)
		if err != nil {
			return r, err
		}
		if !yes {
			r.status = "cancelled"
		}
	}
	if r.status == "deleted" {
		c.bar = a.Progress("moving", len(plan.Remove))
		result, err := plan.Delete(a.ctx)
		c.bar.Done()
		a.changed("removal", "", gone(result.Receipt)...)
		if err != nil {
			return r, err
		}
		r.receipt, r.failed = result.Receipt, result.Failed
	}
	return r, a.tellRemoved(plan, r)
}

// agrees asks the question unless force is set, and reports whether the answer is yes. After
// another answer it writes a line.
func (a *app) agrees(question string, force bool) (bool, error) {
	if force {
		return true, nil
	}
	yes, err := a.Confirm(a.ctx, question)
	if errors.Is(err, io.EOF) {
		err = errors.New("nobody answers: --force does it without a question")
	}
	if err == nil && !yes && !a.json {
		a.Printf("%s\n", a.Paint(screen.Yellow, "Cancelled"))
	}
	return yes, err
}

// staying notes the sessions that stay, with their reasons, shown of them at most.
func (a *app) staying(keep []trash.Session, shown int) {
	for _, s := range keep[:min(shown, len(keep))] {
		a.Notef("%s %s: %s", a.PaintError(screen.Yellow, "stays:"), screen.Plain(s.ID), reasons(s))
	}
	if more := len(keep) - shown; more > 0 {
		a.Notef("%s %s; --dry-run names all", a.PaintError(screen.Yellow, "stays:"), count(more, "more"))
	}
}

func reasons(s trash.Session) string {
	var text []string
	for _, o := range s.Obstacles {
		one := screen.Plain(o.Text)
		if o.Kind.CanAllow() {
			one += " (--even=" + string(o.Kind) + " takes it)"
		}
		text = append(text, one)
	}
	return strings.Join(text, "; ")
}

func (a *app) planTable(plan *trash.Plan) {
	var rows [][]string
	add := func(what string, all []trash.Session) {
		for _, s := range all {
			rows = append(rows, []string{what, s.ID, s.Name, size(s.Bytes), a.clock(s.Modified, time.DateOnly), reasons(s)})
		}
	}
	add("goes", plan.Remove)
	add("stays", plan.Keep)
	if len(rows) == 0 {
		a.Notef("Nothing would go.")
		return
	}
	columns := []screen.Column{
		{Title: "", Tint: func(cell string) screen.Tint {
			if cell == "goes" {
				return screen.Red
			}
			return screen.Yellow
		}},
		a.idColumn(),
		{Title: "Name", Min: 10, Drop: 1, Tint: screen.In(screen.Cyan)},
		{Title: "Size", Right: true, Drop: 2},
		{Title: "Saved", Drop: 3, Tint: screen.In(screen.Yellow)},
		{Title: "Why"},
	}
	if a.Terminal() { // which shows the reasons whole, below the table
		columns = columns[:5]
		for i := range rows {
			rows[i] = rows[i][:5]
		}
	}
	a.Table(columns, rows)
	if a.Terminal() {
		a.staying(plan.Keep, len(plan.Keep))
	}
	a.Notef("\n%s (%s) would go, %s would stay.", count(len(plan.Remove), "session"), size(trash.Bytes(plan.Remove)), number(len(plan.Keep)))
}

// tellRemoved writes the outcome of a plan.
func (a *app) tellRemoved(plan *trash.Plan, r removed) error {
	if a.json {
		sessions := r.receipt.Sessions
		if r.status == "planned" {
			sessions = plan.Remove
		}
		return a.writeJSON(object{{"status", r.status}, {"receipt", r.receipt.ID}, {"sessions", filled(sessions)}, {"kept", filled(plan.Keep)}, {"failed", failures(r.failed)}})
	}
	for _, f := range r.failed {
		a.Notef("%s %s: %s", a.PaintError(screen.Yellow, "stays:"), screen.Plain(f.ID), screen.Lines(explain(f.Err)))
	}
	switch {
	case r.status == "cancelled":
	case r.status == "nothing":
		a.Printf("%s Nothing to delete\n", a.Paint(screen.Green, "✓"))
	case len(r.receipt.Sessions) == 0:
		a.Printf("%s\n", a.Paint(screen.Yellow, "Nothing was deleted"))
	case len(r.receipt.Sessions) == 1:
		a.Printf("%s Deleted session: %s\n", a.Paint(screen.Green, "✓"), screen.Plain(r.receipt.Sessions[0].ID))
	case len(r.receipt.Sessions) > 1:
		a.Printf("%s Deleted %s (%s)\n", a.Paint(screen.Green, "✓"), count(len(r.receipt.Sessions), "session"), size(trash.Bytes(r.receipt.Sessions)))
	}
	if r.receipt.ID != "" {
		a.Printf("  %s brings back what is in the trash\n", a.Paint(screen.Cyan, "sessions undo "+r.receipt.ID))
	}
	return nil
}

// filled is never null in JSON.
func filled[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}
