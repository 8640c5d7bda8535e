package cli

import (
	"errors"
	"path/filepath"
	"time"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

type undoCommand struct {
	forScripts `kong:"-"`
	What       string `arg:"" optional:"" name:"what" help:"A session, or the receipt of a removal; default: show what can be undone."`
	everywhere
	Backup string `placeholder:"FILE" help:"Which kept transcript to bring back (default: the newest)."`
	List   bool   `short:"l" help:"Show what was kept of the session instead."`
	Force  bool   `help:"Also when the session went on since, or when what is there cannot be read."`
}

// Help is shown below the usage.
func (undoCommand) Help() string {
	return `Takes back the last repair, rewind or undo of a session, or the removal of one. What stands there now is kept, so that an undo can be undone.

    sessions undo 8f14           the last change of this session
    sessions undo --list 8f14    what was kept of it
    sessions undo 20260801T1015  the removal with this receipt

In a pipe the answer is JSON.`
}

// Run undoes.
func (c *undoCommand) Run(a *app) error {
	if c.What == "" {
		return c.show(a)
	}
	t, err := (anywhere{c.What, c.where}).reach(a)
	if errors.Is(err, sessionstore.ErrNotFound) {
		return c.removal(a, err)
	}
	if err != nil {
		return err
	}
	if c.List {
		return a.backups(t)
	}
	report, err := c.change(a, t)
	if errors.Is(err, slice.ErrWentOn) {
		return errors.New("the session went on since: --force brings the kept transcript back all the same, and keeps what is there now")
	}
	if err != nil {
		return err
	}
	if a.json {
		indent := jsonIndent
		if report.Status == slice.NoUndoNeeded {
			indent = 0
		}
		return a.writeJSON(report, indent)
	}
	if report.Status == slice.NoUndoNeeded {
		a.Printf("%s is as it was kept: nothing was written.\n", screen.Plain(t.id))
		return nil
	}
	a.Printf("%s Undone: %s has %s again\n", a.Paint(screen.Green, "✓"), screen.Plain(t.id), count(report.Messages, "message"))
	a.kept(report.BackupPath)
	return nil
}

// show shows what was removed and can be brought back.
func (c *undoCommand) show(a *app) error {
	all, err := a.bins(c.where)
	if err != nil {
		return err
	}
	text := "Nothing was removed that can be brought back;"
	if len(all) > 0 {
		text = "What was removed and can be brought back is below;"
	}
	if !a.json {
		a.Notef("%s \"sessions undo SESSION\" undoes changes of a session.\n", text)
	}
	a.name = "trash list"
	return a.showBins(all)
}

// removal brings back what the argument means in the trash.
func (c *undoCommand) removal(a *app, notFound error) error {
	all, err := a.bins(c.where)
	if err != nil {
		return err
	}
	b, err := pick(all, c.What)
	if errors.Is(err, sessionstore.ErrNotFound) {
		return notFound
	}
	if err != nil {
		return err
	}
	return a.restore([]binned{b})
}

func (c *undoCommand) change(a *app, t target) (slice.UndoReport, error) {
	opts := &slice.UndoOptions{Force: c.Force}
	if c.Backup != "" {
		return slice.Undo(a.ctx, t.store, t.id, filepath.Base(c.Backup), opts)
	}
	all, err := slice.Backups(a.ctx, t.store, t.id)
	if err != nil {
		return slice.UndoReport{}, err
	}
	if len(all) == 0 {
		return slice.UndoReport{}, errors.New("nothing of session " + t.id + " was kept: it was neither repaired nor rewound")
	}
	var report slice.UndoReport
	for _, b := range all { // the newest that is not what is there already
		report, err = slice.Undo(a.ctx, t.store, t.id, b.Name, opts)
		if err != nil || report.Status != slice.NoUndoNeeded {
			break
		}
	}
	return report, err
}

// backups shows what was kept of a session.
func (a *app) backups(t target) error {
	all, err := slice.Backups(a.ctx, t.store, t.id)
	if err != nil {
		return err
	}
	if a.json {
		out := list{}
		for _, b := range all {
			events := []byte("null")
			if b.Events != "" {
				events = quoted(b.Events)
			}
			bytes, err := encoded(b.Size)
			if err != nil {
				return err
			}
			out = append(out, object{
				{"name", quoted(b.Name)},
				{"kept_before", quoted(b.Label)},
				{"time", quoted(b.Time.Format("2006-01-02T15:04:05+00:00"))},
				{"bytes", bytes},
				{"events", events},
			})
		}
		return a.writeJSON(out, jsonIndent)
	}
	if len(all) == 0 {
		a.Notef("Nothing of %s was kept: it was neither repaired nor rewound.", screen.Plain(t.id))
		return nil
	}
	var rows [][]string
	for _, b := range all {
		events := "no"
		if b.Events != "" {
			events = "yes"
		}
		rows = append(rows, []string{a.clock(b.Time, time.DateTime), b.Label, size(b.Size), events, b.Name})
	}
	a.Table([]screen.Column{
		{Title: "Kept", Tint: screen.In(screen.Yellow)},
		{Title: "Before", Tint: screen.In(screen.Cyan)},
		{Title: "Size", Right: true, Drop: 2},
		{Title: "Events", Drop: 1},
		{Title: "File", Min: 20, Drop: 3},
	}, rows)
	return nil
}
