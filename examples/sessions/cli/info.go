package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

type infoCommand struct {
	forScripts `kong:"-"`
	anywhere
}

// Help is shown below the usage.
func (infoCommand) Help() string {
	return `Shows where a session is, what it began with, its turns, and whether it is healthy or broken. In a pipe the answer is JSON.`
}

// Run shows.
func (c *infoCommand) Run(a *app) error {
	t, err := c.find(a)
	if err != nil {
		return err
	}
	info, err := slice.Inspect(a.ctx, t.store, t.id)
	if err != nil {
		return err
	}
	if _, _, err := diagnose(a, t); err != nil { // what Inspect leaves out is an error here
		return err
	}
	md, err := t.store.Metadata(a.ctx, t.id)
	if err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(info.Path); err == nil {
		info.Path = real
	}
	if !a.json {
		a.fields([][2]string{
			{"Session", info.SessionID},
			{"Name", md.Text("name")},
			{"Path", info.Path},
			{"Project", info.Project},
			{"Created", a.moment(info.Created)},
			{"Bundle", info.Bundle},
			{"Model", info.Model},
			{"Turns", number(info.Turns)},
			{"Status", strings.Join(append([]string{info.Status}, info.Modes...), ", ")},
		})
		return nil
	}
	return a.writeJSON(append(referenceMembers(md, t.id, info.Path, info.Project),
		member{"turn_count", info.Turns}, member{"status", info.Status}, member{"failure_modes", info.Modes}))
}

// referenceMembers are the members that info and find of amplifier-session have of a session.
func referenceMembers(md sessionstore.Metadata, id, path, project string) object {
	shown := any(id)
	if raw, ok := md.Lookup("session_id"); ok {
		shown = raw
	}
	return object{
		{"session_id", shown},
		{"path", path},
		{"project", project},
		{"created", memberOf(md, "created")},
		{"bundle", memberOf(md, "bundle")},
		{"model", memberOf(md, "model")},
	}
}

// fields writes names and values, a row each, and leaves out the rows without a value.
func (a *app) fields(rows [][2]string) {
	width := 0
	for _, row := range rows {
		width = max(width, len(row[0]))
	}
	for _, row := range rows {
		if row[1] == "" {
			continue
		}
		if !a.Terminal() {
			a.Printf("%s\t%s\n", row[0], screen.Plain(row[1]))
			continue
		}
		value := screen.Wrap(screen.Plain(row[1]), a.Width()-width-2)
		value = strings.ReplaceAll(value, "\n", "\n"+strings.Repeat(" ", width+2))
		a.Print(a.Paint(screen.Dim, row[0]) + strings.Repeat(" ", width+2-len(row[0])) + value + "\n")
	}
}

type statusCommand struct {
	Sessions []string `arg:"" optional:"" name:"session" help:"Ids of sessions, or the beginnings of some (default: all that are not up to date)."`
	remoteFlags
	All bool `short:"a" help:"Show also the sessions that are up to date."`
}

// Help is shown below the usage.
func (statusCommand) Help() string {
	return `Compares the files here with what the remote had when it was last asked. Shown are the sessions that are not up to date, or those that are named, each with the reason, when that ends, and the command that ends it. The time of the last sync is of those that did not fail.
A session that is KeptLate stays here by a rule that came after it was sent: "sessions remote purge" removes it from the remote.

` + remoteHelp
}

// stateShown is the state of a session with regard to the remote.
type stateShown struct {
	Project string  `json:"project"`
	Session string  `json:"session_id"`
	State   string  `json:"state"`
	Local   int     `json:"local"`
	Remote  int     `json:"remote"`
	NextTry *string `json:"next_try"`
	Error   *string `json:"error"`
	Command *string `json:"command"`
}

// named returns the states of the sessions that are named. A whole id means that session alone.
func (c *statusCommand) named(all []hybrid.Status) (named []hybrid.Status) {
	known := map[string]bool{}
	for _, s := range all {
		known[s.SessionID] = true
	}
	for _, s := range all {
		if slices.ContainsFunc(c.Sessions, func(ref string) bool {
			return s.SessionID == ref || !known[ref] && (strings.HasPrefix(s.SessionID, ref) || elided(ref, s.SessionID))
		}) {
			named = append(named, s)
		}
	}
	return named
}

// Run shows the states of sessions.
func (c *statusCommand) Run(a *app) error {
	all, err := c.open(a, recalls, nil)
	if err != nil {
		return err
	}
	a.noteAway()
	states, dirs := []stateShown{}, []string{}
	counts, total, failed := map[hybrid.State]int{}, 0, 0
	for _, r := range all {
		some, err := r.Status(a.ctx)
		if err != nil {
			return err
		}
		if len(c.Sessions) > 0 {
			some = c.named(some)
		}
		if len(some) > 0 {
			dirs = append(dirs, r.Dir())
		}
		for _, s := range some {
			counts[s.State]++
			total++
			if (s.State == hybrid.Blocked || s.State == hybrid.Deferred) && (!errors.Is(s.Err, hybrid.ErrHeld) || errors.Is(s.Err, hybrid.ErrRedaction)) && !errors.Is(s.Err, sessionstore.ErrInvalidID) {
				failed++
			}
			if c.All || len(c.Sessions) > 0 || s.State != hybrid.UpToDate || s.Err != nil {
				states = append(states, r.showState(a, &s))
			}
		}
	}
	if len(c.Sessions) > 0 && total == 0 {
		return notThere(c.Sessions[0])
	}
	return a.answer(states, func() {
		a.stateTable(states)
		a.Notef("%s", tally(total, counts))
		note := a.lastSynced(true, dirs...)
		if failed > 0 && strings.HasPrefix(note, "Last") {
			note += ", but for " + count(failed, "session")
		}
		a.noteSynced(note)
	})
}

func (r copied) showState(a *app, s *hybrid.Status) stateShown {
	return stateShown{r.project, s.SessionID, s.State.String(), s.Local, s.Remote, moment(s.NextTry.Truncate(time.Second)), known(textOf(s.Err)), known(r.stateCommand(a, s))}
}

func tally(total int, counts map[hybrid.State]int) string {
	text := count(total, "session")
	for _, state := range []hybrid.State{
		hybrid.UpToDate, hybrid.Pending, hybrid.Behind, hybrid.Removed, hybrid.Deferred, hybrid.Blocked, hybrid.Local, hybrid.KeptLate, hybrid.Absent,
	} {
		if n := counts[state]; n > 0 {
			text += fmt.Sprintf(", %s %s", number(n), state)
		}
	}
	return text
}

func (a *app) stateTable(states []stateShown) {
	if len(states) == 0 {
		return
	}
	rows := make([][]string, len(states))
	for i, s := range states {
		rows[i] = []string{s.Project, s.Session, s.State, strconv.Itoa(s.Local), strconv.Itoa(s.Remote), a.moment(text(s.NextTry)), text(s.Error), text(s.Command)}
	}
	a.Table([]screen.Column{
		a.projectColumn(1),
		a.idColumn(),
		{Title: "State", Tint: stateTint},
		{Title: "Here", Right: true},
		{Title: "Remote", Right: true},
		{Title: "Next try", Drop: 3, Tint: screen.In(screen.Dim)},
		{Title: "Why", Min: 10, Drop: 4},
		{Title: "Command", Min: 12, Drop: 2},
	}, rows)
}

func stateTint(state string) screen.Tint {
	switch state {
	case hybrid.UpToDate.String():
		return screen.Green
	case hybrid.Blocked.String(), hybrid.Removed.String(), hybrid.KeptLate.String():
		return screen.Red
	case hybrid.Local.String():
		return screen.Dim
	}
	return screen.Yellow
}
