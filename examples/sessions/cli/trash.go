package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
)

type trashCommand struct {
	List    trashListCommand    `cmd:"" default:"withargs" help:"Show what is in the trash, the last removal first."`
	Restore trashRestoreCommand `cmd:"" help:"Bring sessions back."`
	Empty   trashEmptyCommand   `cmd:"" help:"Remove for good what is in the trash."`
}

// Help is shown below the usage.
func (trashCommand) Help() string {
	return `"delete" and "cleanup" move sessions to the trash of their project. A receipt tells what one of them took, when and why; its id, or the beginning of it, stands for all of its sessions.

    sessions trash
    sessions trash restore 20260801T101500Z
    sessions trash empty --older 30`
}

// binned is a receipt and the store whose trash it is in.
type binned struct {
	trash.Receipt
	store *sessionstore.Store
}

// bins returns what is in the trash of all projects, or of the one that w
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

// pick returns the part of what is in the trash that ref means.
func pick(all []binned, ref string) (binned, error) {
	receipts := make([]trash.Receipt, len(all))
	for i, b := range all {
		receipts[i] = b.Receipt
	}
	r, err := trash.Select(receipts, ref)
	if errors.Is(err, sessionstore.ErrNotFound) {
		return binned{}, notInTrashError{ref}
	}
	if err != nil {
		return binned{}, err
	}
	i := slices.IndexFunc(all, func(b binned) bool { return b.ID == r.ID })
	return binned{r, all[i].store}, nil
}

// notInTrashError tells that the trash has nothing that ref means.
type notInTrashError struct{ ref string }

func (e notInTrashError) Error() string {
	return fmt.Sprintf(`the trash has no %q: "sessions trash" shows what it has`, e.ref)
}

func (e notInTrashError) Unwrap() error { return sessionstore.ErrNotFound }

type trashListCommand struct{ everywhere }

// Run lists.
func (c *trashListCommand) Run(a *app) error {
	all, err := a.bins(c.where)
	if err != nil {
		return err
	}
	if len(all) == 0 && !a.json {
		a.Notef("The trash is empty.")
	}
	return a.showBins(all)
}

// showBins shows what is in the trash, if anything is.
func (a *app) showBins(all []binned) error {
	if a.json {
		receipts := []trash.Receipt{}
		for _, b := range all {
			receipts = append(receipts, b.Receipt)
		}
		return a.writeJSON(receipts, jsonIndent)
	}
	if len(all) > 0 {
		a.binTable(all)
	}
	return nil
}

func (a *app) binTable(all []binned) {
	var rows [][]string
	for _, b := range all {
		project := filepath.Base(filepath.Dir(b.store.Dir()))
		for _, s := range b.Sessions {
			bytes := size(s.Bytes)
			if !a.Terminal() {
				bytes = fmt.Sprint(s.Bytes)
			}
			rows = append(rows, []string{b.ID, a.when(b.At), project, s.ID, s.Name, bytes, b.Reason})
		}
	}
	columns := []screen.Column{
		{Title: "Receipt", Min: len("20060102T150405Z-abc"), Whole: true, Tint: screen.In(screen.Green)},
		{Title: "Removed", Drop: 2, Tint: screen.In(screen.Yellow)},
		{Title: "Project", Min: 10, Drop: 1, Tint: screen.In(screen.Magenta)},
		{Title: "Session", Min: shortID, Whole: true},
		{Title: "Name", Min: 10, Drop: 4, Tint: screen.In(screen.Cyan)},
		{Title: "Size", Right: true, Drop: 5},
		{Title: "Why", Min: 8, Drop: 3},
	}
	if a.Terminal() { // which has no room for columns that tell nothing
		columns, rows = telling(columns, rows, 2)
	}
	a.Table(columns, rows)
}

type trashRestoreCommand struct {
	What []string `arg:"" name:"what" help:"Id of a receipt or of a session, or the beginning of one."`
	everywhere
}

// Run restores.
func (c *trashRestoreCommand) Run(a *app) error {
	var chosen []binned
	all, err := a.bins(c.where)
	if err != nil {
		return err
	}
	for _, ref := range c.What {
		b, err := pick(all, ref)
		if err != nil {
			return err
		}
		chosen = append(chosen, b)
	}
	return a.restore(chosen)
}

// restore brings sessions back and tells of it.
func (a *app) restore(chosen []binned) error {
	type back struct {
		ID   string `json:"id"`
		Path string `json:"path"`
	}
	restored, failed := []back{}, []map[string]string{}
	total := 0
	for _, b := range chosen {
		total += len(b.Sessions)
	}
	bar := a.Progress("restoring", total)
	defer bar.Done()
	for _, b := range chosen {
		res, err := trash.Restore(a.ctx, b.store, b.Receipt, func(int, int) { bar.Step(1) })
		for _, f := range res.Failed {
			failed = append(failed, map[string]string{"id": f.ID, "error": explain(f.Err)})
		}
		for _, s := range res.Sessions {
			restored = append(restored, back{s.ID, filepath.Join(b.store.Dir(), s.ID)})
		}
		if err != nil {
			return err
		}
	}
	bar.Done()
	if a.json {
		err := a.writeJSON(struct {
			Status   string              `json:"status"`
			Restored []back              `json:"restored"`
			Failed   []map[string]string `json:"failed"`
		}{"restored", restored, failed}, jsonIndent)
		return errors.Join(err, partly(len(failed)))
	}
	for _, f := range failed {
		a.Notef("%s %s: %s", a.PaintError(screen.Yellow, "stays in the trash:"), screen.Plain(f["id"]), screen.Lines(f["error"]))
	}
	switch len(restored) {
	case 0:
	case 1:
		a.Printf("%s Restored session: %s\n", a.Paint(screen.Green, "✓"), screen.Plain(restored[0].ID))
	default:
		a.Printf("%s Restored %s\n", a.Paint(screen.Green, "✓"), count(len(restored), "session"))
	}
	return partly(len(failed))
}

// partly is an error that has been told when something failed.
func partly(failed int) error {
	if failed > 0 {
		return exitCode(exitError)
	}
	return nil
}
