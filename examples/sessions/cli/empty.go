package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
)

type trashEmptyCommand struct {
	What []string `arg:"" optional:"" name:"what" help:"Id of a receipt, or the beginning of one; default: all."`
	everywhere
	Force bool   `short:"f" help:"Do not ask."`
	Older string `default:"0" placeholder:"TIME" help:"Only what was removed more than so many days ago, or before a time, as 30, 12h, 7d, yesterday or 2026-08-01."`
}

// Help is shown below the usage.
func (trashEmptyCommand) Help() string {
	return `What is gone from the trash cannot be brought back. Copies in the cloud stay there.`
}

// Run empties.
func (c *trashEmptyCommand) Run(a *app) error {
	before, _, err := a.older("older", c.Older)
	switch usage := (usageError{}); {
	case errors.As(err, &usage):
		return err
	case err != nil: // of a number; this flag is none of the reference's
		return usageError{"--older: " + err.Error()}
	}
	all, err := a.bins(c.where)
	if err != nil {
		return err
	}
	var chosen []binned
	for _, ref := range c.What {
		b, err := pick(all, ref)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(x binned) bool { return x.ID == b.ID })
		if len(b.Sessions) != len(all[i].Sessions) {
			return usageError{fmt.Sprintf("%q means a part of receipt %s; a receipt goes whole", ref, b.ID)}
		}
		chosen = append(chosen, b)
	}
	if len(c.What) == 0 {
		chosen = all
	}
	if c.Older != "0" {
		chosen = slices.DeleteFunc(chosen, func(b binned) bool { return !b.At.Before(before) })
	}
	return c.empty(a, chosen)
}

func (c *trashEmptyCommand) empty(a *app, chosen []binned) error {
	sessions, bytes := 0, int64(0)
	for _, b := range chosen {
		sessions += len(b.Sessions)
		bytes += trash.Bytes(b.Sessions)
	}
	if sessions > 0 && !c.Force {
		yes, err := a.Confirm(a.ctx, fmt.Sprintf("Remove %s (%s) for good?", count(sessions, "session"), size(bytes)))
		switch {
		case errors.Is(err, io.EOF):
			return errors.New("nobody answers: --force empties without a question")
		case err != nil:
			return err
		case !yes:
			a.Printf("%s\n", a.Paint(screen.Yellow, "Cancelled"))
			return nil
		}
	}
	receipts := []trash.Receipt{}
	bar := a.Progress("removing", len(chosen))
	defer bar.Done()
	for _, b := range chosen {
		if _, err := trash.Empty(a.ctx, b.store, []trash.Receipt{b.Receipt}); err != nil {
			return err
		}
		receipts = append(receipts, b.Receipt)
		bar.Step(1)
	}
	bar.Done()
	if a.json { // who wants a record of what is gone for good has it here
		return a.writeJSON(receipts, jsonIndent)
	}
	if sessions == 0 {
		a.Printf("%s Nothing to remove\n", a.Paint(screen.Green, "✓"))
		return nil
	}
	a.Printf("%s Removed %s (%s) for good\n", a.Paint(screen.Green, "✓"), count(sessions, "session"), size(bytes))
	return nil
}
