package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/hybrid"
)

// familyCommand are the flags of the commands that may take whole families: sessions of
// the cloud of which one comes from another.
type familyCommand struct {
	Sessions []string `arg:"" name:"session" help:"Whole ids of sessions that the cloud has."`
	cloudFlags
	Family bool `help:"Take the sessions too that belong to those named: forks, sub-sessions, and what these come from."`
	DryRun bool `help:"Tell what would be done, and do nothing."`
	Force  bool `short:"f" aliases:"yes" help:"Do not ask."`
}

// Validate refuses what names no single project.
func (c *familyCommand) Validate() error {
	if c.AllProjects {
		return errors.New("--all-projects: sessions are named of one project")
	}
	return nil
}

// family opens the project, and returns all sessions that the command is about. It notes
// which others belong to them and stay.
func (c *familyCommand) family(a *app) (remote, []string, error) {
	all, err := c.open(a, true, true, nil)
	if err != nil {
		return remote{}, nil, err
	}
	if all, err = a.choose(all, c.Sessions); err != nil {
		return remote{}, nil, err
	}
	r := all[0]
	if err := whole(c.Sessions, r.ids); err != nil {
		return r, nil, err
	}
	ids, err := r.Family(a.ctx, c.Sessions...)
	if err != nil || c.Family {
		return r, ids, err
	}
	var others []string
	for _, id := range ids {
		if !slices.Contains(c.Sessions, id) {
			others = append(others, screen.Plain(id))
		}
	}
	if len(others) > 0 {
		a.Notef("Others belong to what is named, and stay as they are: %s; --family takes them too.", strings.Join(others, ", "))
	}
	return r, c.Sessions, nil
}

// agrees asks, and tells where nobody agrees.
func (c *familyCommand) agrees(a *app, question string) (bool, error) {
	if c.Force {
		return true, nil
	}
	yes, err := a.Confirm(a.ctx, question)
	if errors.Is(err, io.EOF) {
		err = errors.New("nobody answers: --force does it without a question")
	}
	if err == nil && !yes {
		a.Printf("%s\n", a.Paint(screen.Yellow, "Cancelled"))
	}
	return yes, err
}

// familyTable lists the sessions of a family as the cloud's list has them.
func (a *app) familyTable(r remote, ids []string) error {
	listed, err := r.Remote(a.ctx)
	if err != nil {
		return err
	}
	rows := make([][]string, len(ids))
	for i, id := range ids {
		rows[i] = []string{id, "", "", ""}
		for _, s := range listed {
			if s.SessionID == id {
				rows[i] = []string{id, s.Name, a.when(s.Updated), number(s.Messages)}
			}
		}
	}
	a.Table([]screen.Column{
		{Title: "Session", Min: enough(ids), Whole: true, Tint: screen.In(screen.Green)},
		{Title: "Name", Min: 12, Drop: 1, Tint: screen.In(screen.Cyan)},
		{Title: "Updated", Drop: 2, Tint: screen.In(screen.Yellow)},
		{Title: "Msgs", Right: true, Drop: 3},
	}, rows)
	return nil
}

type purgeCommand struct{ familyCommand }

// Help is shown below the usage.
func (purgeCommand) Help() string {
	return `Removes sessions from the cloud for every device, after a question, with every document that holds their text: all histories, logs of all devices, small files and names. Files on devices stay, and none is sent again unless somebody calls "recreate"; what was only in the cloud cannot be taken back. Backups of the account keep what they hold for their time.

A fork is a session of its own and keeps its copy of the lines: name the forks too, or use --family, which takes sub-sessions as well.

` + cloudHelp
}

// Run purges.
func (c *purgeCommand) Run(a *app) error {
	r, ids, err := c.family(a)
	if err != nil {
		return err
	}
	status := "planned"
	if !c.DryRun {
		yes, err := c.agrees(a, fmt.Sprintf("Remove %s from the cloud for good, for every device?", count(len(ids), "session")))
		if err != nil || !yes {
			return err
		}
		bar := a.Progress("purging", 0)
		err = r.Purge(a.ctx, ids...)
		if bar.Done(); err != nil {
			return err
		}
		status = "purged"
	}
	if a.json {
		return a.writeJSON(struct {
			Status   string   `json:"status"`
			Sessions []string `json:"sessions"`
		}{status, ids}, jsonIndent)
	}
	if c.DryRun {
		err := a.familyTable(r, ids)
		a.Notef("\n%s would be removed from the cloud for good, for every device.", count(len(ids), "session"))
		return err
	}
	a.Printf("%s %s removed from the cloud\n", a.mark(nil), count(len(ids), "session"))
	return nil
}

type recreateCommand struct {
	Sessions []string `arg:"" name:"session" help:"Sessions that are here."`
	cloudFlags
}

// Help is shown below the usage.
func (recreateCommand) Help() string {
	return `Sends what this device has of sessions that were removed from the cloud, after a "purge" by mistake. Every device that has them syncs them again, and adds what it has more. Former histories and branches do not come back. Sessions that a rule keeps here are refused.

` + cloudHelp
}

// Run recreates.
func (c *recreateCommand) Run(a *app) error {
	all, err := c.open(a, true, false, nil)
	if err != nil {
		return err
	}
	if all, err = a.choose(all, c.Sessions); err != nil {
		return err
	}
	var ids []string
	for _, r := range all {
		if err := r.Recreate(a.ctx, r.ids...); err != nil {
			return err
		}
		ids = append(ids, r.ids...)
	}
	if a.json {
		return a.writeJSON(struct {
			Status   string   `json:"status"`
			Sessions []string `json:"sessions"`
		}{"recreated", ids}, jsonIndent)
	}
	a.Printf("%s %s sent anew\n", a.mark(nil), count(len(ids), "session"))
	return nil
}

type resyncCommand struct{ familyCommand }

// Help is shown below the usage.
func (resyncCommand) Help() string {
	return `Writes what the cloud has of sessions anew with --redact, after a question: each line and small file as today's rules let it be. Then the former documents go, with what the rules took out, whatever their age. It cannot be taken back. No file here or on another device changes. Devices without --redact send nothing more of these sessions. Backups of the account keep what they hold for their time.

A fork is a session of its own and keeps its copy of the lines: name the forks too, or use --family, which takes sub-sessions as well.

    sessions resync --redact --dry-run 8f14c2d0-…

` + cloudHelp
}

// Run writes anew.
func (c *resyncCommand) Run(a *app) error {
	r, ids, err := c.family(a)
	if err != nil {
		return err
	}
	plan, err := r.PlanResync(a.ctx, ids...)
	if errors.Is(err, hybrid.ErrRedaction) {
		return fmt.Errorf("%w; --redact or COSMOS_REDACT=true applies those of this tool", err)
	}
	if err != nil {
		return err
	}
	status := "planned"
	if !c.DryRun {
		question := fmt.Sprintf("Write %s in the cloud anew: store %s and remove %s for good?",
			count(len(ids), "session"), count(plan.Documents, "document"), number(plan.Removed))
		yes, err := c.agrees(a, question)
		if err != nil || !yes {
			return err
		}
		bar := a.Progress("writing", 0)
		err = r.Resync(a.ctx, ids...)
		if bar.Done(); err != nil {
			return err
		}
		status = "written"
	}
	return c.tell(a, r, ids, plan, status)
}

func (c *resyncCommand) tell(a *app, r remote, ids []string, plan hybrid.ResyncPlan, status string) error {
	if a.json {
		return a.writeJSON(struct {
			Status       string   `json:"status"`
			Sessions     []string `json:"sessions"`
			Documents    int      `json:"documents"`
			Bytes        int64    `json:"bytes"`
			Removed      int      `json:"removed"`
			Requests     int      `json:"requests"`
			RequestUnits float64  `json:"request_units"`
		}{status, ids, plan.Documents, plan.Bytes, plan.Removed, plan.Requests, plan.RequestUnits}, jsonIndent)
	}
	if !c.DryRun {
		a.Printf("%s %s written anew: %s stored, %s removed\n", a.mark(nil), count(len(ids), "session"), count(plan.Documents, "document"), number(plan.Removed))
		return nil
	}
	if err := a.familyTable(r, ids); err != nil {
		return err
	}
	a.Notef("\n%s would be written anew: %s (%s) stored, %s removed, about %s and %.0f request units.", count(len(ids), "session"),
		count(plan.Documents, "document"), size(plan.Bytes), number(plan.Removed), count(plan.Requests, "request"), plan.RequestUnits)
	return nil
}
