package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/hybrid"
)

type syncCommand struct {
	Sessions []string `arg:"" optional:"" name:"session" help:"Ids of sessions, or the beginnings of some (default: all)."`
	remoteFlags
}

// Help is shown below the usage.
func (syncCommand) Help() string {
	return `Sends what is new here, and brings what other devices added to sessions that are here and that nobody uses. How many sessions only the remote has is told: "sessions pull" brings them. A session that waits is named, with the reason, when that ends, and the command that ends it; a session that is held back, since it is not known whether a rule keeps it here, is a failure only where it is named. What cannot be sent stays here for the next time, and the exit code is 1. When two devices added to one session, both histories stay: this device's becomes a session of its own, which is named.

` + remoteHelp
}

// Run syncs.
func (c *syncCommand) Run(a *app) error {
	bar := a.Progress("syncing", 0)
	defer bar.Done()
	all, err := c.open(a, looks, func(hybrid.Status) { bar.Step(1) })
	if err != nil {
		return err
	}
	if all, err = a.choose(all, c.Sessions); err != nil {
		return err
	}
	sum, failed := newSynced(), error(nil)
	for _, r := range all {
		res, err := r.Sync(a.ctx, r.ids...)
		failed = errors.Join(failed, err)
		sum.add(a, r, res)
	}
	bar.Done()
	if err := a.ctx.Err(); err != nil {
		return err
	}
	if sum.Error = textOf(failed); a.json {
		return errors.Join(a.writeJSON(sum), a.half(failed))
	}
	brought := ""
	if sum.Pulled > 0 {
		brought = number(sum.Pulled) + " brought, "
	}
	a.Printf("%s %s looked at, %s%s sent: %s in %s, %.0f request units\n", a.mark(failed),
		count(sum.Sessions, "session"), brought, number(sum.Pushed), size(sum.Bytes), count(sum.Requests, "request"), sum.RequestUnits)
	if sum.Elsewhere > 0 {
		a.Printf("  only the remote has %s: sessions pull%s\n", count(sum.Elsewhere, "session"), c.again(a, c.Project))
	}
	a.tellSynced(all, &sum)
	err = a.half(failed)
	a.tellFailed(sum.Failed)
	return err
}

type pullCommand struct {
	Sessions []string `arg:"" optional:"" name:"session" help:"Ids of sessions, or the beginnings of some, also of such as were removed here (default: all that are new or changed)."`
	remoteFlags
}

// Help is shown below the usage.
func (pullCommand) Help() string {
	return `Brings sessions that other devices made or went on with, and fetches their logs. A session that was removed here comes back only when it is named. One whose id a shell, a terminal or another system could take for something else, as -rf or CON, stays in the remote, and is named.

` + remoteHelp
}

// Run pulls.
func (c *pullCommand) Run(a *app) error {
	all, err := c.open(a, brings, nil)
	if err != nil {
		return err
	}
	if all, err = a.choose(all, c.Sessions); err != nil {
		return err
	}
	bar := a.Progress("pulling", 0)
	defer bar.Done()
	sum, failed := newSynced(), error(nil)
	for _, r := range all {
		res, err := r.Pull(a.ctx, r.ids...)
		failed = errors.Join(failed, err)
		sum.add(a, r, res)
		bar.Step(res.Sessions)
	}
	bar.Done()
	if err := a.ctx.Err(); err != nil {
		return err
	}
	if sum.Error = textOf(failed); a.json {
		return errors.Join(a.writeJSON(sum), a.half(failed))
	}
	a.Printf("%s %s looked at, %s changed here\n", a.mark(failed), count(sum.Sessions, "session"), number(sum.Pulled))
	a.tellSynced(all, &sum)
	err = a.half(failed)
	a.tellFailed(sum.Failed)
	return err
}

// mark returns the sign of success or of failure.
func (a *app) mark(failed error) string {
	if failed != nil {
		return a.Paint(screen.Red, "✗")
	}
	return a.Paint(screen.Green, "✓")
}

// half writes to standard error what failed while the rest was done, and returns the
// exit code as an error; it returns nil when nothing failed.
func (a *app) half(failed error) error {
	if failed == nil {
		return nil
	}
	a.Notef("%s %s", a.PaintError(screen.Red, "sessions:"), screen.Lines(textOf(once(failed))))
	if text := a.place.advice(failed); text != "" {
		a.Notef("%s", screen.Plain(text))
	}
	return exitCode(exitError)
}

// ofRemote are the errors that are the remote's and not a session's.
var ofRemote = []error{hybrid.ErrUnreachable, hybrid.ErrUnauthorized, hybrid.ErrBlocked}

// once returns the errors that failed joins, but of those that are the remote's the
// first alone, and how many more there are: they need no line for each session.
func once(failed error) error {
	var told []error
	seen := make([]int, len(ofRemote))
	for _, err := range joined(failed) {
		kind := slices.IndexFunc(ofRemote, func(is error) bool { return errors.Is(err, is) })
		if kind >= 0 {
			seen[kind]++
		}
		if kind < 0 || seen[kind] == 1 {
			told = append(told, err)
		}
	}
	for kind, n := range seen {
		if n > 1 {
			told = append(told, fmt.Errorf("%s: %w", count(n-1, "more session"), ofRemote[kind]))
		}
	}
	return errors.Join(told...)
}

// joined returns the errors that err joins as [errors.Join] does, or err alone.
func joined(err error) (all []error) {
	list, ok := err.(interface{ Unwrap() []error })
	if !ok || errors.Join(list.Unwrap()...).Error() != err.Error() { // it has a text of its own
		return []error{err}
	}
	for _, err := range list.Unwrap() {
		all = append(all, joined(err)...)
	}
	return all
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return explain(err)
}

// tellConflicts names both histories of a session, and the commands that show them.
func (a *app) tellConflicts(all []hybrid.Conflict) {
	for _, c := range all {
		id, kept := screen.Plain(c.SessionID), screen.Plain(c.KeptAs)
		mark := a.Paint(screen.Yellow, "both kept:")
		if kept == "" { // as long as a program may run it here, see hybrid.Behind
			a.Printf("  %s %s: another device added to it too; this device's history is in the remote. The session was used here just now: when nobody runs it, \"sessions sync\" names both\n", mark, id)
			continue
		}
		a.Printf("  %s %s: another device added to it too; this device's history is now session %s\n", mark, id, kept)
		a.Printf("    the other's: sessions show %s\n    this one's:  sessions show %s\n", id, kept)
	}
}
