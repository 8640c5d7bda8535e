package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// showTree shows a session between those it descends from and those that were forked from it
// or started by it, newest first. The number after @ is the turn of a fork.
func showTree(a *app, of here) error {
	t, err := of.find(a)
	if err != nil {
		return err
	}
	l, err := slice.Trace(a.ctx, t.store, t.id)
	if err != nil && !errors.Is(err, sessionstore.ErrCorrupt) {
		return err
	}
	a.warn(errors.Join(append(l.Skipped, err)...))
	if a.json {
		return a.writeJSON(l)
	}
	ids := append([]string{l.SessionID}, l.Ancestors...)
	for _, child := range l.Children {
		ids = append(ids, child.SessionID)
	}
	short := func(id string) string { return id }
	if a.Terminal() {
		short = a.shortIDs(ids)
	}
	depth := 0
	for i := len(l.Ancestors) - 1; i >= 0; i-- {
		id := l.Ancestors[i]
		name, turn := a.describe(t.store, id)
		if !t.store.Exists(id) {
			name = "(not there)"
		}
		a.treeLine(depth, "", screen.Dim, short(id), name, turn)
		depth++
	}
	name, turn := a.describe(t.store, t.id)
	a.treeLine(depth, "", screen.Green, short(l.SessionID), name, turn)
	for i, child := range l.Children {
		branch := "├─ "
		if i == len(l.Children)-1 {
			branch = "└─ "
		}
		name, _ := a.describe(t.store, filepath.Base(child.Dir))
		a.treeLine(depth, branch, screen.Cyan, short(child.SessionID), name, child.Turn)
	}
	if l.Cyclic {
		a.Notef("%s the session descends from itself", a.PaintError(screen.Yellow, "note:"))
	}
	if a.Terminal() {
		a.Printf("\n%s\n", a.Paint(screen.Dim, fmt.Sprintf("%s above, %s below", number(l.Depth), number(len(l.Children)))))
	}
	return nil
}

// describe returns the title of a session, and the turn it was forked at.
func (a *app) describe(st *sessionstore.Store, id string) (string, *int) {
	md, err := st.Metadata(a.ctx, id)
	if err != nil {
		return "", nil
	}
	s, _ := st.Summary(a.ctx, id) // a session without a summary is shown too
	turn, ok := md.Int("forked_from_turn")
	if !ok {
		return markedTitle(s), nil
	}
	return markedTitle(s), &turn
}

func (a *app) treeLine(depth int, branch string, tint screen.Tint, id, name string, turn *int) {
	at := ""
	if turn != nil {
		at = fmt.Sprintf(" @%d", *turn)
	}
	indent := strings.Repeat("  ", min(depth, 20)) + branch
	room := 1 << 20
	if a.Terminal() {
		room = max(shortID, a.Width()-screen.Columns(indent)-len(at))
	}
	id = screen.Fit(screen.Plain(id), room)
	name = screen.Plain(name)
	if left := room - screen.Columns(id) - 2; name != "" && left >= shortID {
		name = "  " + screen.Fit(name, left)
	} else {
		name = ""
	}
	a.Printf("%s%s%s%s\n", indent, a.Paint(tint, id), a.Paint(screen.Yellow, at), name)
}

// familyCommand are the flags of the commands that may take whole families: sessions of
// the remote of which one comes from another.
type familyCommand struct {
	Sessions []string `arg:"" name:"session" help:"Whole ids of sessions that the remote has."`
	remoteFlags
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
func (c *familyCommand) family(a *app) (copied, []string, error) {
	all, err := c.open(a, brings, nil)
	if err != nil {
		return copied{}, nil, err
	}
	if all, err = a.choose(all, c.Sessions); err != nil {
		return copied{}, nil, err
	}
	r := all[0]
	if err := whole(c.Sessions, r.ids); err != nil {
		return r, nil, err
	}
	listed, err := r.Remote(a.ctx)
	ids := familyOf(listed, c.Sessions)
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

// familyOf returns the named sessions, and the sessions of the remote that parents connect
// with them. A parent connects its children even if the remote never had it, or has it no
// more.
func familyOf(listed []hybrid.RemoteSession, named []string) (all []string) {
	there, near := map[string]bool{}, map[string][]string{}
	for _, s := range listed {
		there[s.SessionID] = !s.Removed
		if s.Parent != "" {
			near[s.SessionID] = append(near[s.SessionID], s.Parent)
			near[s.Parent] = append(near[s.Parent], s.SessionID)
		}
	}
	met := map[string]bool{}
	for next := slices.Clone(named); len(next) > 0; next = next[1:] {
		id := next[0]
		if met[id] {
			continue
		}
		met[id], next = true, append(next, near[id]...)
		if there[id] || slices.Contains(named, id) {
			all = append(all, id)
		}
	}
	return all
}

// familyTable lists the sessions of a family as the remote's list has them.
func (a *app) familyTable(r copied, ids []string) error {
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
		a.idColumn(),
		{Title: "Name", Min: 12, Drop: 1, Tint: screen.In(screen.Cyan)},
		{Title: "Updated", Drop: 2, Tint: screen.In(screen.Yellow)},
		{Title: "Msgs", Right: true, Drop: 3},
	}, rows)
	return nil
}

type purgeCommand struct{ familyCommand }

// Help is shown below the usage.
func (purgeCommand) Help() string {
	return `Removes sessions from the remote for every device, after a question, with every document that holds their text: all histories, logs of all devices, small files and names. Files on devices stay, and none is sent again until "remote recreate"; what was only in the remote cannot be taken back. Backups of the remote keep what they hold for their time.

A fork is a session of its own and keeps its copy of the lines: name the forks too, or use --family, which takes sub-sessions as well.

` + remoteHelp
}

// Run purges.
func (c *purgeCommand) Run(a *app) error {
	return c.change(a, "Remove %s from the remote for good, for every device?", "purging", "purged", "removed from the remote for good",
		func(r copied, ids []string) error { return r.Remove(a.ctx, ids...) })
}

type recreateCommand struct{ familyCommand }

// Help is shown below the usage.
func (recreateCommand) Help() string {
	return `Sends sessions to the remote anew, after a question: as this device has them once it brought what the remote has more, with the logs of all devices, and with --redact as today's rules let each line and small file be. Then no document there has what the rules take out, though it was sent before. Former histories and branches do not come back. No file here or on another device changes. Devices without --redact send nothing more of these sessions. Backups of the remote keep what they hold for their time.

Sessions that were removed from the remote, after a "purge" by mistake, are sent as they are here. Every device that has a session syncs it again, and adds what it has more. It is refused where something cannot be brought, where a branch has no session of its own, and where a rule keeps a session here.

A fork is a session of its own and keeps its copy of the lines: name the forks too, or use --family, which takes sub-sessions as well.

    sessions remote recreate --redact --dry-run 8f14c2d0-…

` + remoteHelp
}

// Run recreates.
func (c *recreateCommand) Run(a *app) error {
	return c.change(a, "Send %s anew, and remove what the remote has of them for good?", "sending", "recreated", "sent anew", func(r copied, ids []string) error {
		err := r.Recreate(a.ctx, ids...)
		if errors.Is(err, hybrid.ErrRedaction) {
			err = fmt.Errorf("%w; --redact, here or of \"remote add\", applies those of this tool", err)
		}
		return err
	})
}

// change does something about the sessions, after a question, and writes them and its status.
// --dry-run only plans it.
func (c *familyCommand) change(a *app, question, doing, status, done string, do func(r copied, ids []string) error) error {
	r, ids, err := c.family(a)
	if err != nil {
		return err
	}
	if c.DryRun {
		status = "planned"
	} else {
		yes, err := a.agrees(fmt.Sprintf(question, count(len(ids), "session")), c.Force)
		if err != nil || !yes {
			return err
		}
		bar := a.Progress(doing, 0)
		err = do(r, ids)
		if bar.Done(); err != nil {
			return err
		}
	}
	switch {
	case a.json:
		return a.writeJSON(object{{"status", status}, {"sessions", ids}})
	case c.DryRun:
		err := a.familyTable(r, ids)
		a.Notef("\n%s would be %s, for every device.", count(len(ids), "session"), done)
		return err
	}
	a.Printf("%s %s %s\n", a.mark(nil), count(len(ids), "session"), done)
	return nil
}
