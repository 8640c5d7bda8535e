package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
	"github.com/amplifier-go/sessionstorage/slice"
)

type undoCommand struct {
	What string `arg:"" optional:"" name:"what" help:"A session, or the receipt of a removal; default: the last change of all."`
	everywhere
	Backup string `placeholder:"FILE" help:"Which kept transcript to bring back (default: the newest)."`
	List   bool   `short:"l" help:"Show instead what can be taken back, or what was kept of the session."`
	Yes    bool   `short:"y" help:"Do not ask."`
	Force  bool   `help:"Also when the session went on since, or when what is there cannot be read."`
}

// Help is shown below the usage.
func (undoCommand) Help() string {
	return `Takes back the last change of this tool on this machine, whatever it was: a repair, a rewind, an undo, a fork, a removal or an import. It names the change and asks first. With a session, it is the last change of this one, also by another program that kept a copy of the transcript.

    sessions undo                the last change
    sessions undo --list         what can be taken back
    sessions undo 8f14           the last change of this session
    sessions undo --list 8f14    what was kept of it
    sessions undo 20260801T1015  the removal with this receipt

Nothing is lost: what a session has now is kept beside it, and a fork or an imported session goes to the trash, so an undo can be undone. What was added to since stays, and so do sessions that an import updated, and what was imported of a file that is gone. Each is named with the reason, and the exit code is 1. --list marks a session that went on since.

In a pipe, what is not named by its session, or takes a session away, needs --yes.`
}

// Run undoes.
func (c *undoCommand) Run(a *app) error {
	if c.What == "" {
		return c.last(a)
	}
	t, err := (anywhere{c.What, c.where}).reach(a)
	switch {
	case errors.Is(err, sessionstore.ErrNotFound):
		return c.removal(a, err)
	case err != nil:
		return err
	case c.List:
		return a.backups(t)
	case c.Backup != "":
		return c.transcript(a, t, filepath.Base(c.Backup))
	}
	all, err := a.changes([]*sessionstore.Store{t.store}, nil)
	a.noteFailed(err) // what was kept comes back without notes, too
	kept, err := slice.Backups(a.ctx, t.store, t.id)
	if err != nil {
		return err
	}
	for _, made := range all {
		own := func(s placed) bool { return s.id == t.id }
		if i := slices.IndexFunc(made.sessions, own); i >= 0 && made.made() && (len(kept) == 0 || kept[0].Time.Before(made.At.Truncate(time.Second))) {
			made.target, made.sessions, made.stays = t, made.sessions[i:i+1], nil
			return c.takeBack(a, made)
		}
	}
	return c.transcript(a, t, "")
}

// last takes back the last change, or lists the changes.
func (c *undoCommand) last(a *app) error {
	if c.Backup != "" {
		return usageError{"--backup: name the session, too"}
	}
	bins, err := a.bins(c.where)
	if err != nil {
		return err
	}
	stores, _, err := a.stores(c.where) // bins wrote which cannot be read
	if err != nil {
		return err
	}
	all, err := a.changes(stores, bins)
	switch {
	case err != nil:
		return err
	case c.List:
		return a.changeTable(slices.DeleteFunc(all, func(c change) bool { return len(c.sessions) == 0 }))
	case len(all) == 0 && a.json:
		return a.writeLine(object{{"status", slice.NoUndoNeeded}})
	case len(all) == 0:
		a.Notef("There is nothing to take back.")
		return nil
	}
	return c.takeBack(a, all[0])
}

// takeBack takes back a change, after a question.
func (c *undoCommand) takeBack(a *app, last change) error {
	last = a.titled(last)
	if len(last.sessions) == 0 && len(last.stays) == 0 {
		return fmt.Errorf("the last change is %s, which is neither there nor in the trash: sessions undo --list shows what can be taken back by its name", last.words())
	}
	if sure, err := c.sure(a, last); err != nil || !sure {
		return err
	}
	switch {
	case last.bin != nil:
		return a.restore([]binned{*last.bin})
	case last.made():
		return c.takeAway(a, last)
	}
	return c.transcript(a, last.target, last.sessions[0].Kept)
}

// sure names a change and asks whether it is to be taken back.
func (c *undoCommand) sure(a *app, last change) (bool, error) {
	if c.Yes || len(last.sessions) == 0 {
		return true, nil
	}
	what := fmt.Sprintf("%s, %s", last.words(), screen.Ago(a.now(), last.At))
	if !a.Answers() || a.json {
		return false, usageError{"the last change is " + what + ": --yes takes it back, undo --list shows all"}
	}
	return a.agrees("The last change is "+what+". Take it back?", false)
}

// transcript brings back a transcript that was kept, "" means the newest that is another.
func (c *undoCommand) transcript(a *app, t target, backup string) error {
	report, err := slice.Undo(a.ctx, t.store, t.id, backup, &slice.UndoOptions{Force: c.Force})
	if errors.Is(err, slice.ErrWentOn) {
		return fmt.Errorf("session %s went on since: --force brings the kept transcript back all the same, and keeps what is there now", screen.Plain(t.id))
	}
	if err != nil {
		return err
	}
	return a.rewrote("undo", t, report.BackupPath, report, screen.Plain(t.id)+" is as it was kept:", fmt.Sprintf("Undone: %s has %s again", screen.Plain(t.id), count(report.Messages, "message")))
}

// removal brings back the sessions in the trash that the argument means, or lists their
// removal. It returns notFound when there are none.
func (c *undoCommand) removal(a *app, notFound error) error {
	all, err := a.bins(c.where)
	if err != nil {
		return err
	}
	b, err := pick(all, c.What)
	if errors.Is(err, sessionstore.ErrNotFound) || err == nil && c.Backup != "" {
		return notFound
	}
	if err != nil {
		return err
	}
	if c.List {
		one := change{changeNote: changeNote{At: b.At, Kind: "removal"}, target: target{b.store, b.Sessions[0].ID}, sessions: make([]placed, len(b.Sessions)), bin: &b}
		return a.changeTable([]change{one})
	}
	return a.restore([]binned{b})
}

// takeAway moves the sessions that a fork or an import made to the trash.
func (c *undoCommand) takeAway(a *app, last change) error {
	stays, receipts, went := filled(last.stays), []string{}, []string{}
	by := map[*sessionstore.Store][]placed{}
	for _, s := range last.sessions {
		by[s.store] = append(by[s.store], s)
	}
	var failed error
	for st, own := range by {
		plan, added, err := c.plan(a, last, st, own)
		stays = append(stays, added...)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		for _, s := range plan.Keep {
			var why []string
			for _, o := range s.Obstacles {
				why = append(why, o.Text)
			}
			stays = append(stays, staysHere{s.ID, strings.Join(why, "; ")})
		}
		done, err := plan.Delete(a.ctx)
		failed = errors.Join(failed, err)
		a.changed("removal", "", gone(done.Receipt)...)
		if done.Receipt.ID != "" {
			receipts = append(receipts, done.Receipt.ID)
		}
		for _, s := range done.Receipt.Sessions {
			went = append(went, s.ID)
		}
		for _, f := range done.Failed {
			stays = append(stays, staysHere{f.ID, explain(f.Err)})
		}
	}
	wrong := len(stays)
	switch {
	case failed != nil && len(went) == 0:
		return failed
	case failed != nil:
		a.Notef("%s %s", a.PaintError(screen.Red, "failed:"), screen.Lines(explain(failed)))
		wrong++
	}
	slices.Sort(receipts)
	slices.Sort(went)
	if a.json {
		err := a.writeJSON(struct {
			Status   string      `json:"status"`
			Change   string      `json:"change"`
			Receipts []string    `json:"receipts"`
			Removed  []string    `json:"removed"`
			Stays    []staysHere `json:"stays"`
		}{"taken_back", last.Kind, receipts, went, stays})
		return errors.Join(err, partly(wrong))
	}
	for _, s := range stays {
		a.Notef("%s %s: %s", a.PaintError(screen.Yellow, "stays:"), screen.Plain(s.ID), screen.Lines(s.Why))
	}
	if len(went) > 0 {
		a.Printf("%s Undone: %s to the trash\n", a.Paint(screen.Green, "✓"), count(len(went), "session"))
	}
	for _, r := range receipts {
		a.Printf("  %s brings back what is in the trash\n", a.Paint(screen.Cyan, "sessions undo "+r))
	}
	return partly(wrong)
}

// plan plans the removal of sessions of a store. A session stays when something was added to
// it since, and when the file that it was imported from is gone. plan compares once the plan
// is made: the removal leaves a session that is written later.
func (c *undoCommand) plan(a *app, last change, st *sessionstore.Store, all []placed) (plan *trash.Plan, stays []staysHere, err error) {
	for {
		ids := []string{}
		for _, s := range all {
			ids = append(ids, s.id)
		}
		plan, err = trash.NewPlan(a.ctx, st, ids, &trash.Options{Reason: "undo of " + last.Kind, Allow: []trash.Kind{trash.Recent, trash.Unsynced}})
		all = slices.DeleteFunc(all, func(s placed) bool {
			why := s.obstacle()
			if why == "" || c.Force {
				return false
			}
			stays = append(stays, staysHere{s.id, why})
			return true
		})
		if err != nil || len(all) == len(ids) {
			return plan, stays, err
		}
	}
}

// obstacle returns the reason for which a session that a change made is not taken away, or "".
func (s placed) obstacle() string {
	if now := s.target.noted(); now.Bytes != s.Bytes || !now.Modified.Equal(s.Modified) {
		return "something was added since"
	}
	if _, err := os.Stat(s.Source); s.Source != "" && errors.Is(err, fs.ErrNotExist) {
		return screen.Plain(s.Source) + " is gone, so no import brings it again"
	}
	return ""
}

// changeTable lists changes.
func (a *app) changeTable(all []change) error {
	type listed struct {
		Change   string `json:"change"`
		At       string `json:"time"`
		Project  string `json:"project"`
		ID       string `json:"session_id"`
		Title    string `json:"title"`
		Sessions int    `json:"sessions"`
		WentOn   bool   `json:"went_on"`
		Receipt  string `json:"receipt,omitempty"`
	}
	shown, rows, seen := []listed{}, [][]string{}, map[string]bool{}
	for i := range all {
		all[i] = a.titled(all[i])
	}
	for _, c := range all {
		one := listed{c.Kind, c.At.UTC().Format(time.RFC3339), projectOf(c.target), c.id, c.summary.Title, len(c.sessions), false, ""}
		title, now := c.summary.Title, ""
		if c.bin != nil {
			one.Receipt = c.bin.ID
		}
		for _, s := range c.sessions {
			if c.bin == nil && !seen[s.target.dir()] { // a former change is of what a later one left
				seen[s.target.dir()] = true
				one.WentOn = one.WentOn || s.target.noted().Bytes != s.Bytes
			}
		}
		if one.WentOn {
			now = "went on"
		}
		if more := len(c.sessions) - 1; more > 0 {
			title = strings.TrimSpace(title + " and " + count(more, "more"))
		}
		shown = append(shown, one)
		rows = append(rows, []string{a.when(c.At), c.Kind, c.id, title, projectOf(c.target), now})
	}
	return a.list(shown, "There is nothing to take back.", []screen.Column{
		{Title: "Time", Drop: 2, Tint: screen.In(screen.Yellow)},
		{Title: "Change", Tint: screen.In(screen.Cyan)},
		a.idColumn(),
		{Title: "Title", Min: 12},
		a.projectColumn(1),
		{Title: "Since", Tint: screen.In(screen.Red)},
	}, rows)
}

// backups lists the transcripts that were kept of a session.
func (a *app) backups(t target) error {
	all, err := slice.Backups(a.ctx, t.store, t.id)
	if err != nil {
		return err
	}
	if a.json {
		type backup struct {
			Name   string  `json:"name"`
			Label  string  `json:"kept_before"`
			Time   *string `json:"time"`
			Bytes  int64   `json:"bytes"`
			Events *string `json:"events"`
		}
		out := []backup{}
		for _, b := range all {
			out = append(out, backup{b.Name, b.Label, moment(b.Time), b.Size, known(b.Events)})
		}
		return a.writeJSON(out)
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
