package cli

import (
	"errors"
	"strconv"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

type remoteShowCommand struct {
	Session string `arg:"" optional:"" help:"Id of a session to show, or the beginning of one; without one, or with a remote's name, all are listed."`
	remoteFlags
	Messages  bool `short:"m" xor:"part" help:"Show what was said last in the session, too."`
	Histories bool `xor:"part" help:"List the former histories and branches of the session instead."`
	Logs      bool `xor:"part" help:"List the files of the session's logs on this machine instead, one of each device."`
}

// Help is shown below the usage.
func (remoteShowCommand) Help() string {
	return `Lists the sessions that the remote has, the one that changed last first, or shows one of them. Nothing is brought here. Of a session its last messages are fetched: those that one sync sent, or some more after "remote prune"; --messages shows them. The list may be half a minute behind.

--histories lists what the remote keeps beside the session itself: branches, which one device had when another went on, and former heads, which a rewind, another change or a restore replaced. "sessions remote restore" brings one back.

--logs does not ask the remote: it lists the logs in the session's directory, and those of other devices as the last pull brought them. Together, in the order of their times, they are the whole log.

` + remoteHelp
}

// Run lists or shows.
func (c *remoteShowCommand) Run(a *app) error {
	if len(c.of(a, []string{c.Session})) == 0 {
		c.Session = ""
	}
	switch {
	case c.Session == "" && (c.Messages || c.Histories || c.Logs):
		return usageError{"--messages, --histories and --logs are of one session"}
	case c.Histories:
		return c.histories(a)
	case c.Logs:
		return c.logs(a)
	}
	all, err := c.open(a, looks, nil)
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
	return a.remoteTable(listed)
}

// remoteShown is a session of the list.
type remoteShown struct {
	hybrid.RemoteSession
	Here bool `json:"here"`
}

func (a *app) remoteTable(all []remoteShown) error {
	cells := make([][]string, len(all))
	for i, s := range all {
		here := map[bool]string{true: "yes", false: "no"}[s.Here]
		cells[i] = []string{s.Project, s.SessionID, s.Name, a.when(s.Updated), strconv.Itoa(s.Turns), strconv.Itoa(s.Messages), here}
	}
	return a.list(all, "The remote has no sessions of this project: where other devices have it at another path, give all of them one --as.", []screen.Column{
		a.projectColumn(5),
		a.idColumn(),
		{Title: "Name", Min: 12, Tint: screen.In(screen.Cyan)},
		{Title: "Updated", Drop: 2, Tint: screen.In(screen.Yellow)},
		{Title: "Turns", Right: true, Drop: 3},
		{Title: "Msgs", Right: true, Drop: 4},
		{Title: "Here", Drop: 1},
	}, cells)
}

// show shows the session of the first project that has it in the remote.
func (c *remoteShowCommand) show(a *app, all []copied) error {
	all, err := a.choose(all, []string{c.Session})
	if err != nil {
		return err
	}
	err = notThere(c.Session)
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
			about := object{{"session_id", p.SessionID}, {"name", p.Name}, {"description", p.Description}, {"updated", p.Updated}, {"turns", p.Turns}, {"n", p.Count}, {"messages", list{}}}
			return errors.Join(a.writeRows(about, inMemory(p.Messages)), err)
		}
		c.fields(a, p)
		if c.Messages {
			err = errors.Join(a.conversation(p.Messages, folded), err)
		}
		return err
	}
	return err
}

func (c *remoteShowCommand) fields(a *app, p hybrid.Preview) {
	a.fields([][2]string{
		{"Session", p.SessionID},
		{"Name", p.Name},
		{"Description", p.Description},
		{"Updated", a.when(p.Updated)},
		{"Turns", number(p.Turns)},
		{"Messages", number(p.Count)},
	})
}

// history is a history of a list.
type history struct {
	ID       string  `json:"history"`
	Why      string  `json:"why"`
	At       *string `json:"time"`
	Device   string  `json:"device"`
	Messages int     `json:"messages"`
	Common   int     `json:"common_messages"`
	KeptAs   *string `json:"kept_as"`
}

// histories lists the histories of the session.
func (c *remoteShowCommand) histories(a *app) error {
	r, id, err := c.one(a, looks, c.Session)
	if err != nil {
		return err
	}
	all, damage := r.Histories(a.ctx, id)
	if damage != nil && !errors.Is(damage, hybrid.ErrDamaged) {
		return damage
	}
	if a.json {
		shown := []history{}
		for _, h := range all {
			shown = append(shown, history{h.ID, h.Why, moment(h.At), h.Device, h.Messages, h.Common, known(h.KeptAs)})
		}
		return errors.Join(a.writeJSON(shown), damage)
	}
	if len(all) == 0 {
		a.Notef("The remote keeps no other history of %s.", screen.Plain(id))
		return damage
	}
	rows := make([][]string, len(all))
	for i, h := range all {
		rows[i] = []string{h.ID, a.when(h.At), h.Why, strconv.Itoa(h.Messages), strconv.Itoa(h.Common), h.Device, h.KeptAs}
	}
	columns := []screen.Column{
		{Title: "History", Tint: screen.In(screen.Green)},
		{Title: "Left", Drop: 2, Tint: screen.In(screen.Yellow)},
		{Title: "Why", Tint: screen.In(screen.Cyan)},
		{Title: "Msgs", Right: true},
		{Title: "In common", Right: true, Drop: 3},
		{Title: "Device", Min: 8, Drop: 4},
		{Title: "Kept as", Min: shortID, Drop: 1},
	}
	a.Table(columns, rows)
	return damage
}

// logs lists the logs of the session.
func (c *remoteShowCommand) logs(a *app) error {
	r, id, err := c.offline(a, c.Session)
	if err != nil {
		return err
	}
	logs, err := r.Logs(a.ctx, id)
	if err != nil {
		return err
	}
	type log struct {
		Name   string  `json:"name"`
		Device *string `json:"device"`
		Path   string  `json:"path"`
	}
	shown, rows := []log{}, [][]string{}
	for _, l := range logs {
		shown = append(shown, log{l.Name, known(l.Device), l.Path})
		rows = append(rows, []string{l.Name, l.Device, l.Path})
	}
	return a.list(shown, "The session has no logs.", []screen.Column{{Title: "Log", Tint: screen.In(screen.Green)}, {Title: "Device", Drop: 1}, {Title: "Path", Min: 20}}, rows)
}
