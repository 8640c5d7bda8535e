package cli

import (
	"path/filepath"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
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
	if a.typed {
		return a.writeJSON(infoOf(info, md), jsonIndent)
	}
	id := quoted(t.id)
	if raw, ok := md.Lookup("session_id"); ok {
		id = raw
	}
	modes, err := encoded(info.Modes)
	if err != nil {
		return err
	}
	return a.writeJSON(object{
		{"session_id", id},
		{"path", quoted(info.Path)},
		{"project", quoted(info.Project)},
		{"created", memberOf(md, "created")},
		{"bundle", memberOf(md, "bundle")},
		{"model", memberOf(md, "model")},
		{"turn_count", decimal(info.Turns)},
		{"status", quoted(info.Status)},
		{"failure_modes", modes},
	}, jsonIndent)
}

// fields writes names and values below each other, without those that have
// none.
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
