package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid"
)

type pruneCommand struct {
	Sessions []string `arg:"" optional:"" name:"session" help:"Ids of sessions, or the beginnings of some (default: all at which something happened since this device last did it)."`
	remoteFlags
	DryRun bool   `help:"Tell what there is to do, and do nothing."`
	Force  bool   `short:"f" aliases:"yes" help:"Do not ask."`
	All    bool   `help:"Also sessions at which nothing happened."`
	Grace  string `default:"7d" placeholder:"AGE" help:"Age at which what nothing leads to is removed, as 12h or 7d (default: 7d)."`
	Former string `default:"30d" placeholder:"AGE" help:"How long what a rewind took away is kept (default: 30d)."`

	grace, former time.Duration
}

// Help is shown below the usage.
func (pruneCommand) Help() string {
	return `Keeps the copy in the remote small: many small segments become few larger ones, and what nothing leads to any more is removed. What is removed there cannot be brought back; nothing changes here. Once a day by one device is plenty.

` + remoteHelp
}

// Run keeps the copy small.
func (c *pruneCommand) Run(a *app) error {
	if err := c.ages(a); err != nil {
		return err
	}
	all, err := c.open(a, asks, nil)
	if err != nil {
		return err
	}
	if all, err = a.choose(all, c.Sessions); err != nil {
		return err
	}
	if !c.Force && !c.DryRun {
		plan, err := c.prune(a, all, true)
		yes := true
		if err == nil && plan.Removed+plan.Expired > 0 {
			yes, err = a.agrees(fmt.Sprintf("Remove %s and %s from the remote for good?", count(plan.Removed, "document"), count(plan.Expired, "former head")), false)
		}
		if err != nil || !yes {
			return err
		}
	}
	sum, failed := c.prune(a, all, c.DryRun)
	return c.tell(a, sum, failed)
}

// ages reads --grace and --former, the ages from which something is removed.
func (c *pruneCommand) ages(a *app) (err error) {
	if c.grace, err = a.age("grace", c.Grace); err != nil {
		return err
	}
	if c.former, err = a.age("former", c.Former); err != nil {
		return err
	}
	if c.grace <= 0 || c.former <= 0 {
		return usageError{"--grace and --former: ages must be positive, as 12h or 7d"}
	}
	return nil
}

// prune prunes the sessions of all projects, or with plan only counts the work.
func (c *pruneCommand) prune(a *app, all []copied, plan bool) (sum hybrid.PruneResult, failed error) {
	bar := a.Progress("looking", 0)
	defer bar.Done()
	for _, r := range all {
		res, err := r.Prune(a.ctx, &hybrid.PruneOptions{Grace: c.grace, HistoryRetention: c.former, Plan: plan, All: c.All}, r.ids...)
		failed = errors.Join(failed, err)
		sum.Sessions += res.Sessions
		sum.Merged += res.Merged
		sum.Segments += res.Segments
		sum.Expired += res.Expired
		sum.Removed += res.Removed
		sum.Waiting += res.Waiting
		sum.Requests += res.Requests
		sum.RequestUnits += res.RequestUnits
		bar.Step(res.Sessions)
	}
	return sum, failed
}

func (c *pruneCommand) tell(a *app, sum hybrid.PruneResult, failed error) error {
	if err := a.ctx.Err(); err != nil {
		return err
	}
	if a.json {
		err := a.writeJSON(struct {
			DryRun bool `json:"dry_run"`
			hybrid.PruneResult
			Error string `json:"error"`
		}{c.DryRun, sum, textOf(failed)})
		return errors.Join(err, a.half(failed))
	}
	would := ""
	if c.DryRun {
		would = "would be "
	}
	a.Printf("%s %s looked at: %s %smerged into %s, %s and %s %sremoved: %s, %.0f request units\n", a.mark(failed),
		count(sum.Sessions, "session"), count(sum.Merged, "segment"), would, number(sum.Segments),
		count(sum.Removed, "document"), count(sum.Expired, "former head"), would, count(sum.Requests, "request"), sum.RequestUnits)
	if sum.Waiting > 0 {
		a.Printf("  %s too young to be removed\n", count(sum.Waiting, "document"))
	}
	return a.half(failed)
}
