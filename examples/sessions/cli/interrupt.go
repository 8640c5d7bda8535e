package cli

import (
	"context"
	"errors"
	"time"

	"github.com/alecthomas/kong"
)

// patience is how long a command may go on after an interrupt before it is left behind.
const patience = 50 * time.Millisecond

// run runs the command that was chosen, and reports whether it left the command behind because
// that went on after an interrupt: then the process is about to end. A command that only looks fails
// with the error of the context even if it came to its end.
func (a *app) run(chosen *kong.Context) (left bool, err error) {
	command := chosen.Selected().Target.Addr().Interface()
	looks, do := a.onlyLooks(command), func() error { return chosen.Run(a) }
	if !looks && !isWhole(command) {
		return false, do()
	}
	if left, err = a.wait(do); looks && a.ctx.Err() != nil && !errors.Is(err, context.Canceled) {
		err = a.ctx.Err()
	}
	return left, err
}

// wait waits for a function, after the end of the context no longer than patience.
func (a *app) wait(do func() error) (left bool, err error) {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err = <-done:
		return false, err
	case <-a.ctx.Done():
	}
	select {
	case err = <-done:
		return false, err
	case <-time.After(patience):
		a.left.Store(true)
		return true, a.ctx.Err()
	}
}

// onlyLooks reports whether a command changes nothing, and does not wait for an interrupt.
func (a *app) onlyLooks(command any) bool {
	switch c := command.(type) {
	case *listCommand, *showCommand, *infoCommand, *findCommand, *searchCommand, *statsCommand, *secretsCommand, *diagnoseCommand,
		*eventsListCommand, *eventsSummaryCommand, *eventsShowCommand, *phasesCommand, *conversationCommand, *decisionsCommand, *trashListCommand:
		return true
	case *tailCommand:
		return !c.Follow
	case *verifyCommand:
		return !c.Mend
	case *exportCommand:
		return c.Output == ""
	case *importCommand:
		return c.DryRun
	case *undoCommand:
		return c.List
	case *deleteCommand:
		return c.DryRun
	case *cleanupCommand:
		return c.DryRun
	case *resumeCommand:
		return (c.Show || a.json) && c.With == ""
	}
	return false
}

// isWhole reports whether a command makes one change, of one session, which is whole or not
// there at all, whenever the process ends. All others end by themselves after an interrupt.
func isWhole(command any) bool {
	switch c := command.(type) {
	case *repairCommand, *rewindCommand, *renameCommand:
		return true
	case *forkCommand:
		return !c.Resume
	}
	return false
}
