package cli

import (
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

type renameCommand struct {
	anywhere
	Name string `arg:"" help:"The name, of 1 to 200 characters."`
}

// Help is shown below the usage.
func (renameCommand) Help() string {
	return `Gives a session the name that lists show, also while somebody runs it. No program that finds names by itself changes it after that. "sessions undo SESSION" brings the former name back.

    sessions rename 8f14 "payments, second try"`
}

// Run renames.
func (c *renameCommand) Run(a *app) error {
	t, err := c.find(a)
	if err != nil {
		return err
	}
	report, err := slice.RenameSession(a.ctx, t.store, t.id, c.Name)
	if errors.Is(err, sessionstore.ErrCorrupt) {
		return fmt.Errorf("%w; sessions repair %s --name=NAME writes them anew", err, screen.Plain(t.id))
	}
	if err != nil {
		return err
	}
	idle := ""
	if report.Status == slice.NoRenameNeeded {
		idle = screen.Plain(t.id) + " has that name already:"
	}
	return a.rewrote("rename", t, report.BackupPath, report, idle, fmt.Sprintf("Renamed %s to %q", screen.Plain(t.id), screen.Plain(c.Name)))
}
