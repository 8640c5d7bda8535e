package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
)

type trashCommand struct {
	List  trashListCommand  `cmd:"" default:"withargs" help:"Show what is in the trash, the last removal first."`
	Empty trashEmptyCommand `cmd:"" help:"Remove for good what is in the trash."`
}

// Help is shown below the usage.
func (trashCommand) Help() string {
	return `"delete" and "cleanup" move sessions to the trash of their project. A receipt tells what one of them took, when and why; its id, or the beginning of it, stands for all of its sessions.

    sessions trash
    sessions undo 20260801T101500Z
    sessions trash empty --older 30`
}

// binned is a receipt and the store whose trash it is in.
type binned struct {
	trash.Receipt
	store *sessionstore.Store
}

// bins returns the receipts in the trash of all projects, or of the project that w
// names, the last removal first.
func (a *app) bins(w where) ([]binned, error) {
	stores, closed, err := a.stores(w)
	if err != nil {
		return nil, err
	}
	var all []binned
	for _, st := range stores {
		receipts, err := trash.List(a.ctx, st)
		closed = errors.Join(closed, err)
		for _, r := range receipts {
			all = append(all, binned{r, st})
		}
	}
	a.warn(closed)
	slices.SortStableFunc(all, func(x, y binned) int { return y.At.Compare(x.At) })
	return all, nil
}

// pick returns the receipt that ref means, or the part of one.
func pick(all []binned, ref string) (binned, error) {
	receipts, ids := make([]trash.Receipt, len(all)), []string{}
	for i, b := range all {
		receipts[i] = b.Receipt
		for _, s := range b.Sessions {
			ids = append(ids, s.ID)
		}
	}
	r, err := trash.Select(receipts, elidedIn(ref, ids))
	if errors.Is(err, sessionstore.ErrNotFound) {
		return binned{}, missing(fmt.Sprintf(`the trash has no %q: "sessions trash" shows what it has`, ref))
	}
	if err != nil {
		return binned{}, err
	}
	i := slices.IndexFunc(all, func(b binned) bool { return b.ID == r.ID })
	return binned{r, all[i].store}, nil
}

type trashListCommand struct{ everywhere }

// Run lists.
func (c *trashListCommand) Run(a *app) error {
	all, err := a.bins(c.where)
	if err != nil {
		return err
	}
	receipts, rows := []trash.Receipt{}, [][]string{}
	for _, b := range all {
		receipts = append(receipts, b.Receipt)
		project := filepath.Base(filepath.Dir(b.store.Dir()))
		for _, s := range b.Sessions {
			rows = append(rows, []string{b.ID, a.when(b.At), project, s.ID, s.Name, a.bytes(s.Bytes), b.Reason})
		}
	}
	return a.list(receipts, "The trash is empty.", []screen.Column{
		{Title: "Receipt", Min: len("20060102T150405Z-abc"), Whole: true, Tint: screen.In(screen.Green)},
		{Title: "Removed", Drop: 2, Tint: screen.In(screen.Yellow)},
		a.projectColumn(1),
		{Title: "Session", Min: shortID, Whole: true},
		{Title: "Name", Min: 10, Drop: 4, Tint: screen.In(screen.Cyan)},
		{Title: "Size", Right: true, Drop: 5},
		{Title: "Why", Min: 8, Drop: 3},
	}, rows)
}

type trashEmptyCommand struct {
	What []string `arg:"" optional:"" name:"what" help:"Id of a receipt, or the beginning of one; default: all."`
	everywhere
	Force bool   `short:"f" help:"Do not ask."`
	Older string `default:"0" placeholder:"TIME" help:"Only what was removed more than so many days ago, or before a time, as 30, 12h, 7d, yesterday or 2026-08-01."`
}

// Help is shown below the usage.
func (trashEmptyCommand) Help() string {
	return `What is gone from the trash cannot be brought back. Copies in the remote stay there.`
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

// empty removes receipts for good, after a question. It names each that stays.
func (c *trashEmptyCommand) empty(a *app, chosen []binned) error {
	all := total(chosen)
	yes, err := a.agrees(fmt.Sprintf("Remove %s for good?", all), c.Force || len(chosen) == 0)
	if err != nil || !yes {
		return err
	}
	gone, receipts, failed := []binned{}, []trash.Receipt{}, []failedSession{}
	bar := a.Progress("removing", len(chosen))
	defer bar.Done()
	for _, b := range chosen {
		_, err := trash.Empty(a.ctx, b.store, []trash.Receipt{b.Receipt})
		if err != nil && a.ctx.Err() != nil { // the answer names what is gone
			break
		}
		if err != nil {
			failed = append(failed, failedSession{b.ID, explain(err)})
		} else {
			gone, receipts = append(gone, b), append(receipts, b.Receipt)
		}
		bar.Step(1)
	}
	bar.Done()
	a.staysInTrash(failed)
	switch {
	case a.json: // the answer is a record of the sessions that are gone for good
		err = a.writeJSON(receipts)
	case len(gone) > 0:
		a.Printf("%s Removed %s for good\n", a.Paint(screen.Green, "✓"), total(gone))
	case len(chosen) == 0:
		a.Printf("%s Nothing to remove\n", a.Paint(screen.Green, "✓"))
	}
	return cmp.Or(a.ctx.Err(), err, partly(len(failed)))
}

// total returns the number and the size of the sessions of receipts, in words.
func total(all []binned) string {
	sessions, bytes := 0, int64(0)
	for _, b := range all {
		sessions += len(b.Sessions)
		bytes += trash.Bytes(b.Sessions)
	}
	return fmt.Sprintf("%s (%s)", count(sessions, "session"), size(bytes))
}

// restore brings sessions back from the trash, and writes the result.
func (a *app) restore(chosen []binned) error {
	type back struct {
		ID   string `json:"id"`
		Path string `json:"path"`
	}
	restored, failed := []back{}, []failedSession{}
	fail := func(id string, err error) {
		failed = append(failed, failedSession{id, explain(err)})
	}
	total := 0
	for _, b := range chosen {
		total += len(b.Sessions)
	}
	bar := a.Progress("restoring", total)
	defer bar.Done()
	for _, b := range chosen {
		res, err := trash.Restore(a.ctx, b.store, b.Receipt, func(int, int) { bar.Step(1) })
		failed = append(failed, failures(res.Failed)...)
		for _, s := range res.Sessions {
			restored = append(restored, back{s.ID, filepath.Join(b.store.Dir(), s.ID)})
		}
		if done := len(res.Failed) + len(res.Sessions); err != nil && done < len(b.Sessions) { // in order
			for _, s := range b.Sessions[done:] {
				fail(s.ID, err)
			}
		} else if err != nil {
			fail(b.ID, err)
		}
	}
	bar.Done()
	if a.json {
		err := a.writeJSON(object{{"status", "restored"}, {"restored", restored}, {"failed", failed}})
		return cmp.Or(err, a.ctx.Err(), partly(len(failed)))
	}
	a.staysInTrash(failed)
	switch len(restored) {
	case 0:
	case 1:
		a.Printf("%s Restored session: %s\n", a.Paint(screen.Green, "✓"), screen.Plain(restored[0].ID))
	default:
		a.Printf("%s Restored %s\n", a.Paint(screen.Green, "✓"), count(len(restored), "session"))
	}
	return cmp.Or(a.ctx.Err(), partly(len(failed)))
}

func (a *app) staysInTrash(failed []failedSession) {
	for _, f := range failed {
		a.Notef("%s %s: %s", a.PaintError(screen.Yellow, "stays in the trash:"), screen.Plain(f.ID), screen.Lines(f.Error))
	}
}

// failedSession is a session or receipt that could not be moved or removed.
type failedSession struct {
	ID    string `json:"id"`
	Error string `json:"error"`
}

func failures(all []trash.Failure) []failedSession {
	failed := []failedSession{}
	for _, f := range all {
		failed = append(failed, failedSession{f.ID, explain(f.Err)})
	}
	return failed
}

// partly returns the exit code as an error when something failed, which has been
// written already, and nil when nothing did.
func partly(failed int) error {
	if failed > 0 {
		return exitCode(exitError)
	}
	return nil
}

// shelf are the commands that keep, carry and look through sessions.
type shelf struct {
	Undo   undoCommand   `cmd:"" group:"Mend" help:"Take back the last change: a repair, rewind, rename, fork, removal or import."`
	Redo   redoCommand   `cmd:"" group:"Mend" help:"Make the change again that undo took back."`
	Rename renameCommand `cmd:"" group:"Mend" help:"Give a session a name. undo takes it back."`
	Verify verifyCommand `cmd:"" group:"Mend" help:"Check every file of all sessions."`
	Rescue rescueCommand `cmd:"" group:"Mend" help:"Mend a session that does not go on, or make a sound one of a broken one of Claude Code or Codex."`

	Trash  trashCommand  `cmd:"" group:"Copy and remove" help:"Show what was deleted, or remove it for good; undo brings it back."`
	Export exportCommand `cmd:"" group:"Copy and remove" help:"Write a session as Markdown, HTML, JSONL or an archive."`
	Import importCommand `cmd:"" group:"Copy and remove" help:"Make a session of an archive, a directory or JSONL, or of each session of another tool."`

	Tail     tailCommand     `cmd:"" group:"Look" help:"Show the end of a session, and with -f what comes."`
	Events   eventsCommand   `cmd:"" group:"Look" help:"Look into the audit log, of any size."`
	Search   searchCommand   `cmd:"" group:"Look" help:"Find text in the conversations of all projects."`
	Stats    statsCommand    `cmd:"" group:"Look" help:"Add up tokens, costs and time by day, model, project or session."`
	Workflow workflowCommand `cmd:"" group:"Look" help:"Show the phases of a session's workflow, what was said about it, and what was decided."`
	Secrets  secretsCommand  `cmd:"" group:"Look" help:"List the secrets in a transcript by line and kind, and never show one."`
	Viewer   viewerCommand   `cmd:"" group:"Look" help:"Show sessions in a browser on this machine."`
	MCP      mcpCommand      `cmd:"" name:"mcp" group:"Look" help:"Tell an agent what was said in earlier sessions, by the Model Context Protocol."`
	Hide     hideCommand     `cmd:"" group:"Look" help:"Keep a session from being told to agents, and on this machine."`

	Sync   syncCommand   `cmd:"" group:"Remote" help:"Bring sessions into step with a remote, both ways."`
	Pull   pullCommand   `cmd:"" group:"Remote" help:"Bring sessions of other devices here."`
	Status statusCommand `cmd:"" group:"Remote" help:"Show which sessions the remote has, without asking it."`
	Remote remoteCommand `cmd:"" group:"Remote" help:"Add, check, copy and remove remotes; look into one, restore, prune or purge what it has."`
}
