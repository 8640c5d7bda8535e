package cli

import (
	"errors"
	"io"
	"strconv"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/slice"
)

type forkCommand struct {
	here
	AtTurn   *int   `short:"t" placeholder:"N" help:"The last turn to take over, from 1 (default: asks on a terminal, else the last)."`
	Name     string `short:"n" placeholder:"ID" help:"Id of the new session (default: a new UUID)."`
	Title    string `placeholder:"NAME" help:"Name of the new session for people (default: none)."`
	Resume   bool   `short:"r" help:"Resume it then, as the command resume does."`
	Events   bool   `help:"Copy the events up to the turn, too."`
	NoEvents bool   `hidden:"" help:"Accepted and without effect: events are not copied by default."`
	Damaged  string `placeholder:"FILE" help:"Take over the messages of a damaged file that \"sessions repair --salvage\" told of."`
}

// Help is shown below the usage.
func (forkCommand) Help() string {
	return `Makes a new session of the conversation up to a turn. It knows what these turns cost, if that is known for certain. The session itself does not change. The new one is whole or not there at all, and never replaces another.

    sessions fork abc123 --at-turn 3
    sessions fork abc123 --at-turn 3 --name jwt-approach`
}

// Run forks.
func (c *forkCommand) Run(a *app) error {
	if c.AtTurn != nil && *c.AtTurn < 1 {
		return usageError{"--at-turn: turns are counted from 1"}
	}
	t, err := c.find(a)
	if err != nil {
		return err
	}
	preview, forked, err := c.fork(a, t)
	if err != nil {
		return err
	}
	a.warn(forked.Damage)
	return c.done(a, t, forked, preview)
}

// done notes the fork for undo, and writes the result.
func (c *forkCommand) done(a *app, t target, forked slice.Forked, preview slice.Preview) error {
	made := target{t.store, forked.ID}
	a.changed("fork", "", made.noted())
	if a.json {
		return a.writeJSON(forkedJSON(forked))
	}
	a.Printf("%s Forked session created: %s\n", a.Paint(screen.Green, "✓"), screen.Plain(forked.ID))
	a.Printf("  Parent: %s\n", screen.Plain(forked.ParentID))
	if preview.MaxTurns > 0 {
		a.Printf("  Forked at turn: %d of %d\n", forked.Turn, preview.MaxTurns)
	}
	a.Printf("  Messages: %d\n", forked.Messages)
	if preview.OrphanedCount > 0 {
		a.Printf("  %s got a result that says the fork interrupted it\n", count(preview.OrphanedCount, "call"))
	}
	if forked.Events > 0 {
		a.Printf("  Events copied: %d\n", forked.Events)
	}
	if c.Resume {
		return (&resumeCommand{Session: made.dir(), local: c.local}).Run(a)
	}
	return nil
}

// fork makes the fork at a turn, or of a damaged file.
func (c *forkCommand) fork(a *app, t target) (preview slice.Preview, forked slice.Forked, err error) {
	if c.AtTurn == nil && c.Damaged == "" && a.Answers() && !a.json {
		if c.AtTurn, err = c.ask(a, t); err != nil {
			return preview, forked, err
		}
	}
	if c.Damaged == "" {
		if preview, err = slice.PreviewFork(a.ctx, t.store, t.id, c.AtTurn); err != nil {
			return preview, forked, err
		}
	}
	forked, err = slice.Fork(a.ctx, t.store, t.id, &slice.ForkOptions{Turn: c.AtTurn, NewID: c.Name, Events: c.Events, Damaged: c.Damaged, Name: c.Title})
	return preview, forked, err
}

func forkedJSON(f slice.Forked) object {
	return object{{"session_id", f.ID}, {"parent_id", f.ParentID}, {"forked_from_turn", f.Turn}, {"message_count", f.Messages}, {"events_count", f.Events}}
}

// ask shows the last turns and asks for one.
func (c *forkCommand) ask(a *app, t target) (*int, error) {
	s, err := t.store.Load(a.ctx, t.id)
	if s == nil {
		return nil, err
	}
	last := slice.CountTurns(s.Messages)
	if last == 0 {
		return nil, referenceError("Session has no user messages to fork from")
	}
	const shown = 10
	a.Printf("%s has %s; the last ones first:\n\n", screen.Plain(t.id), count(last, "turn"))
	for turn := last; turn > max(0, last-shown); turn-- {
		summary, err := slice.Summarize(s.Messages, turn, a.Width())
		if err != nil {
			return nil, err
		}
		label := "  " + a.Paint(screen.Cyan, "["+strconv.Itoa(turn)+"]") + " "
		a.Printf("%s%s\n", label, screen.Fit(screen.Plain(summary.User), max(10, a.Width()-8)))
	}
	answer, err := a.Ask(a.ctx, "\nFork at turn ["+strconv.Itoa(last)+"]:")
	if errors.Is(err, io.EOF) || err == nil && answer == "" {
		return &last, nil
	}
	if err != nil {
		return nil, err
	}
	turn, err := strconv.Atoi(answer)
	if err != nil || turn < 1 {
		return nil, usageError{"a turn is a number from 1 to " + strconv.Itoa(last)}
	}
	return &turn, nil
}
