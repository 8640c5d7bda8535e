package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

type remoteShowCommand struct {
	Session string `arg:"" optional:"" help:"Id of a session to show, or the beginning of one; without one, all are listed."`
	cloudFlags
	Messages  bool `short:"m" xor:"part" help:"Show the turn, role and time of each message of the session."`
	Histories bool `xor:"part" help:"List the former histories and branches of the session instead."`
	Logs      bool `xor:"part" help:"List the files of the session's logs on this machine instead, one of each device."`
}

// Help is shown below the usage.
func (remoteShowCommand) Help() string {
	return `Lists the sessions that the remote has, the one that changed last first, or shows one of them. Nothing is brought here: no lines are fetched. The list may be half a minute behind.

--histories lists what the remote keeps beside the session itself: branches, which one device had when another went on, and former heads, which a rewind, another change or a restore replaced. "sessions remote restore" brings one back.

--logs does not ask the remote: it lists the logs in the session's directory, and those of other devices as the last pull brought them. Together, in the order of their times, they are the whole log.

` + cloudHelp
}

// Run lists or shows.
func (c *remoteShowCommand) Run(a *app) error {
	switch {
	case c.Session == "" && (c.Messages || c.Histories || c.Logs):
		return usageError{"--messages, --histories and --logs are of one session"}
	case c.Histories:
		return c.histories(a)
	case c.Logs:
		return c.logs(a)
	}
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
		here := "no"
		if s.Here {
			here = "yes"
		}
		cells[i] = []string{s.Project, s.SessionID, s.Name, a.when(s.Updated), strconv.Itoa(s.Turns), strconv.Itoa(s.Messages), here}
	}
	return a.list(all, "The remote has no sessions of this project.", []screen.Column{
		a.projectColumn(5),
		idColumn(),
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
	err = notInCloud(c.Session)
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
			return errors.Join(a.writeJSON(p), err)
		}
		c.fields(a, p)
		return err
	}
	return err
}

func (c *remoteShowCommand) fields(a *app, p hybrid.Preview) {
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

// stores opens the projects that w names: one, or all. closed joins the errors of the
// projects that cannot be read.
func (a *app) stores(w where) (all []*sessionstore.Store, closed, err error) {
	p, err := a.known(w)
	if err != nil {
		return nil, nil, err
	}
	slugs, err := p.Slugs(a.ctx)
	if err != nil {
		return nil, nil, err
	}
	slug, err := w.existing(a, p, false)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range slugs {
		if slug != "" && name != slug {
			continue
		}
		st, err := p.Store(name)
		if err != nil {
			closed = errors.Join(closed, err)
			continue
		}
		all = append(all, st)
	}
	return all, closed, nil
}

// unsynced returns a function that returns the sessions of st of which the remote lacks
// something, each with a text about that. It returns nil when no remote is configured.
// The function makes no request.
func (a *app) unsynced(st *sessionstore.Store) func(ctx context.Context, ids []string) (map[string]string, error) {
	set, err := a.named(a.env("SESSIONS_REMOTE"))
	if errors.Is(err, errNoCloud) {
		return nil
	}
	return func(ctx context.Context, ids []string) (map[string]string, error) {
		all, err := map[string]string{}, err // of this call
		if err == nil {
			err = a.lacking(ctx, set, st.Dir(), ids, all)
		}
		if err != nil {
			return nil, fmt.Errorf("%w. \"sessions delete --even=unsynced\" does without", err)
		}
		return all, nil
	}
}

// lacking adds to all the sessions of ids, in the sessions directory dir, of which the remote
// lacks something, each with a text about that.
func (a *app) lacking(ctx context.Context, set setting, dir string, ids []string, all map[string]string) (err error) {
	o := account{}.options(set, filepath.Base(filepath.Dir(dir)))
	if o.Remote, err = set.open(a, false); err != nil {
		return err
	}
	st, err := hybrid.Open(ctx, dir, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	for _, id := range ids {
		found, err := st.Status(ctx, id)
		if errors.Is(err, sessionstore.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if text := lacks(&found[0]); text != "" {
			all[id] = text
		}
	}
	return nil
}

// lacks returns a text about the part of a session that the remote lacks, "" when it
// lacks nothing.
func lacks(s *hybrid.Status) string {
	switch s.State {
	case hybrid.Pending, hybrid.Deferred, hybrid.Blocked:
		if s.Local > s.Remote {
			return fmt.Sprintf("the remote lacks %s of it", count(s.Local-s.Remote, "message"))
		}
		return "the remote lacks something of it"
	case hybrid.Removed:
		return "it was deleted in the remote: this is the last copy"
	}
	return ""
}
