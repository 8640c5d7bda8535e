package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// remoteCommand are the commands about remotes, and about what one has.
type remoteCommand struct {
	List   remotesCommand `cmd:"" default:"1" help:"List the remotes that were added."`
	Add    addCommand     `cmd:"" help:"Add a remote by a name, after a check of it."`
	Check  checkCommand   `cmd:"" help:"Show whether a remote answers and what it lets this device do; or read all that it has of sessions, and check every hash."`
	Remove forgetCommand  `cmd:"" help:"Take a remote out of the settings; what it has stays there."`
	Copy   copyCommand    `cmd:"" help:"Copy all that one remote has to another one."`

	Show      remoteShowCommand `cmd:"" help:"List the sessions that the remote has, or show one without bringing it here."`
	Restore   restoreCommand    `cmd:"" help:"Make a former history or a branch the session again, on every device."`
	Prune     pruneCommand      `cmd:"" help:"Keep the copy small: merge segments, remove what is of no use."`
	Recreate  recreateCommand   `cmd:"" help:"Send sessions anew with today's rules, and remove what was sent before; also after a purge by mistake."`
	Purge     purgeCommand      `cmd:"" help:"Remove sessions from the remote for every device, with all of their text."`
	KeepLocal keepLocalCommand  `cmd:"" help:"Keep sessions from ever leaving this machine."`
}

// one opens the remote's copy of the one session that ref means.
func (f remoteFlags) one(a *app, as use, ref string) (copied, string, error) {
	all, err := f.open(a, as, nil)
	if err == nil {
		all, err = a.choose(all, []string{ref})
	}
	if err != nil {
		return copied{}, "", err
	}
	if len(all) > 1 {
		return copied{}, "", fmt.Errorf("%s is a session of %s; --project says which is meant", screen.Plain(ref), count(len(all), "project"))
	}
	return all[0], all[0].ids[0], nil
}

type restoreCommand struct {
	Session string `arg:"" help:"Id of a session that the remote has, or the beginning of one."`
	History string `arg:"" help:"A history that \"remote show --histories\" lists, or the beginning of one."`
	remoteFlags
	Force bool `short:"f" aliases:"yes" help:"Do not ask."`
}

// Help is shown below the usage.
func (restoreCommand) Help() string {
	return `Makes a history the session, here and on every device, after a question. What the session is now becomes a history, so it can be restored, too. Lines that were not sent yet are sent first.

` + remoteHelp
}

// Run restores.
func (c *restoreCommand) Run(a *app) error {
	r, id, err := c.one(a, brings, c.Session)
	if err != nil {
		return err
	}
	all, err := r.Histories(a.ctx, id)
	if err != nil && len(all) == 0 {
		return err
	}
	found := slices.DeleteFunc(all, func(h hybrid.History) bool { return !strings.HasPrefix(h.ID, c.History) })
	if len(found) != 1 {
		return fmt.Errorf("%s of session %s begin with %q; \"sessions remote show --histories\" lists them", count(len(found), "history"), screen.Plain(id), c.History)
	}
	h := found[0]
	yes, err := a.agrees(fmt.Sprintf("Make the history of %s, with %s, the session %s on every device?", a.when(h.At), count(h.Messages, "message"), screen.Plain(id)), c.Force)
	if err != nil || !yes {
		return err
	}
	if err := r.Restore(a.ctx, id, h); err != nil {
		return err
	}
	arrived := false // the files here, too
	if states, err := r.Status(a.ctx, id); err == nil && len(states) == 1 {
		arrived = states[0].State == hybrid.UpToDate
	}
	if a.json {
		return a.writeJSON(object{{"session_id", id}, {"restored", h.ID}, {"messages", h.Messages}, {"here", arrived}})
	}
	a.Printf("%s Restored: the remote has %s of %s again\n", a.mark(nil), count(h.Messages, "message"), screen.Plain(id))
	if !arrived {
		a.Printf("  here they follow with a sync, when no program has written the session for some minutes\n")
	}
	return nil
}

type checkCommand struct {
	Sessions []string `arg:"" optional:"" name:"session" help:"Ids of sessions to read, or the beginnings of some (default: none); a remote's name before them is as --remote."`
	remoteFlags
	All  bool `help:"Read all sessions that are here."`
	Mend bool `help:"Store again what is missing or damaged of them there, if this device has it."`
}

// Help is shown below the usage.
func (checkCommand) Help() string {
	return `Without sessions, it asks the remote: whether it answers, which rights this device has, how far the clocks differ, and what requests cost. For that it stores a small object and removes it.

With sessions, or --all, it reads everything that the remote has of them, and checks every hash. The exit code is 1 when something is missing or damaged and stays so.

` + remoteHelp
}

// Run checks.
func (c *checkCommand) Run(a *app) error {
	c.Sessions = c.of(a, c.Sessions)
	if len(c.Sessions) == 0 && !c.All {
		if c.Mend {
			return usageError{"--mend needs sessions, or --all"}
		}
		set, err := a.named(c.Remote)
		if err != nil {
			return err
		}
		return a.probe(&set)
	}
	all, err := c.open(a, asks, nil)
	if err == nil {
		all, err = a.choose(all, c.Sessions)
	}
	if err != nil {
		return err
	}
	bar := a.Progress("checking", 0)
	defer bar.Done()
	reports, failed := []hybrid.Report{}, error(nil)
	for _, r := range all {
		ids := r.ids
		if len(c.Sessions) == 0 {
			infos, err := r.List(a.ctx, &sessionstore.ListOptions{All: true})
			if err != nil {
				return err
			}
			for _, info := range infos {
				ids = append(ids, info.ID)
			}
		}
		for _, id := range ids {
			report, err := r.Check(a.ctx, id, &hybrid.CheckOptions{Mend: c.Mend})
			bar.Step(1)
			if errors.Is(err, sessionstore.ErrNotFound) && len(c.Sessions) == 0 { // it was never sent
				continue
			}
			failed = errors.Join(failed, err)
			if report.SessionID != "" {
				report.Problems = filled(report.Problems)
				reports = append(reports, report)
			}
		}
	}
	bar.Done()
	if a.json {
		return errors.Join(a.writeJSON(reports), failed)
	}
	lines, problems, mended := 0, 0, 0
	for _, r := range reports {
		lines, problems, mended = lines+int(r.Lines), problems+len(r.Problems), mended+r.Mended
		for _, p := range r.Problems {
			what := cmp.Or(p.File, fmt.Sprintf("lines %d to %d", p.From+1, p.To))
			state := map[bool]string{true: "mended", false: "missing or damaged"}[p.Mended]
			a.Printf("%s: %s: %s\n", screen.Plain(r.SessionID), screen.Plain(what), state)
		}
	}
	a.Printf("%s %s, %s read, %s\n", a.mark(failed), count(len(reports), "session"), count(lines, "line"), count(problems-mended, "problem"))
	return a.half(failed)
}

// offline opens the remote's copy of a session that is here, and makes no request.
func (f remoteFlags) offline(a *app, ref string) (copied, string, error) {
	t, err := here{ref, f.local}.find(a)
	if err != nil {
		return copied{}, "", err
	}
	all, err := f.open(a, recalls, nil)
	if err != nil {
		return copied{}, "", err
	}
	for _, r := range all {
		if sameDir(r.Dir(), t.store.Dir()) {
			return r, t.id, nil
		}
	}
	return copied{}, "", fmt.Errorf("%s is a session of another project; --project=%s says so", screen.Plain(t.id), screen.Plain(projectOf(t)))
}

type keepLocalCommand struct {
	Sessions []string `arg:"" name:"session" help:"Ids of sessions of this project, or the beginnings of some."`
	remoteFlags
	Release bool `help:"Let them leave this machine again, with the next sync."`
}

// Help is shown below the usage.
func (keepLocalCommand) Help() string {
	return `Keeps sessions from ever leaving this machine, with those that descend from them. The remote is not asked: what was sent before stays there, and "sessions status" says so, until "sessions remote purge". --release takes it back.

` + remoteHelp
}

// open opens the store of a session, with a remote where there is one.
func (c *keepLocalCommand) open(a *app, ref string) (*hybrid.Store, string, error) {
	r, id, err := c.offline(a, ref)
	if !errors.Is(err, errNoRemote) {
		return r.Store, id, err
	}
	t, err := here{ref, c.local}.find(a)
	if err != nil {
		return nil, "", err
	}
	st, err := a.rules(t)
	return st, t.id, err
}

// Run keeps, or releases.
func (c *keepLocalCommand) Run(a *app) error {
	done, failed := []string{}, error(nil)
	for _, ref := range c.Sessions {
		st, id, err := c.open(a, ref)
		if err == nil && c.Release {
			err = st.Release(a.ctx, id)
		} else if err == nil {
			err = st.KeepLocal(a.ctx, id)
		}
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		done = append(done, id)
	}
	if len(done) == 0 {
		return failed
	}
	status, words := "kept_local", "stays on this machine"
	if c.Release {
		status, words = "released", "leaves this machine with the next sync"
	}
	if a.json {
		return errors.Join(a.writeJSON(object{{"status", status}, {"sessions", done}}), failed)
	}
	for _, id := range done {
		a.Printf("%s %s %s\n", a.mark(nil), screen.Plain(id), words)
	}
	return a.half(failed)
}
