package cli

import (
	"errors"
	"strconv"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

type remoteCommand struct {
	Session string `arg:"" optional:"" help:"Id of a session to show, or the beginning of one; without one, all are listed."`
	cloudFlags
	Messages bool `short:"m" help:"Show the turn, role and time of each message of the session."`
}

// Help is shown below the usage.
func (remoteCommand) Help() string {
	return `Lists the sessions that the cloud has, the one that changed last first, or shows one of them. Nothing is brought here: no lines are fetched. The list may be half a minute behind.

` + cloudHelp
}

// Run lists or shows.
func (c *remoteCommand) Run(a *app) error {
	all, err := c.open(a, true, true, nil)
	if err != nil {
		return err
	}
	if c.Session != "" {
		return c.show(a, all)
	}
	listed := []remoteShown{}
	for _, r := range all {
		sessions, err := r.Remote(a.ctx)
		if err != nil {
			return err
		}
		for _, s := range sessions {
			if !s.Removed {
				listed = append(listed, remoteShown{s, r.Exists(s.SessionID)})
			}
		}
	}
	if a.json {
		return a.writeJSON(listed, jsonIndent)
	}
	if len(listed) == 0 {
		a.Notef("The cloud has no sessions of this project.")
		return nil
	}
	a.remoteTable(listed)
	return nil
}

// remoteShown is a session of the list.
type remoteShown struct {
	hybrid.RemoteSession
	Here bool `json:"here"`
}

func (a *app) remoteTable(all []remoteShown) {
	var ids []string
	cells := make([][]string, len(all))
	for i, s := range all {
		here := "no"
		if s.Here {
			here = "yes"
		}
		ids = append(ids, s.SessionID)
		cells[i] = []string{s.Project, s.SessionID, s.Name, a.when(s.Updated), strconv.Itoa(s.Turns), strconv.Itoa(s.Messages), here}
	}
	a.Table([]screen.Column{
		{Title: "Project", Min: 10, Drop: 5, Tint: screen.In(screen.Magenta)},
		{Title: "Session", Min: enough(ids), Whole: true, Tint: screen.In(screen.Green)},
		{Title: "Name", Min: 12, Tint: screen.In(screen.Cyan)},
		{Title: "Updated", Drop: 2, Tint: screen.In(screen.Yellow)},
		{Title: "Turns", Right: true, Drop: 3},
		{Title: "Msgs", Right: true, Drop: 4},
		{Title: "Here", Drop: 1},
	}, cells)
}

// show shows the session of the first project that has it in the cloud.
func (c *remoteCommand) show(a *app, all []remote) error {
	all, err := a.choose(all, []string{c.Session})
	if err != nil {
		return err
	}
	err = notInCloudError{c.Session}
	for _, r := range all {
		p, failed := r.Preview(a.ctx, r.ids[0])
		if errors.Is(failed, sessionstore.ErrNotFound) {
			continue
		}
		err = failed
		if p.Updated.IsZero() { // nothing is known of it
			return err
		}
		if a.json {
			return errors.Join(a.writeJSON(p, jsonIndent), err)
		}
		c.fields(a, p)
		return err
	}
	return err
}

func (c *remoteCommand) fields(a *app, p hybrid.Preview) {
	rows := [][2]string{
		{"Session", p.SessionID},
		{"Name", p.Name},
		{"Description", p.Description},
		{"Updated", a.when(p.Updated)},
		{"Turns", number(p.Turns)},
		{"Messages", number(len(p.Messages))},
	}
	a.fields(rows)
	if !c.Messages {
		return
	}
	cells := make([][]string, len(p.Messages))
	for i, m := range p.Messages {
		cells[i] = []string{strconv.Itoa(m.Turn), m.Role, a.when(m.Time)}
	}
	a.Table([]screen.Column{{Title: "Turn", Right: true}, {Title: "Role", Tint: screen.In(screen.Cyan)}, {Title: "Time", Tint: screen.In(screen.Yellow)}}, cells)
}
