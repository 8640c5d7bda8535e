package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
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
	return `Takes back the last change, whatever it was: a repair, a rewind, an undo, a fork, a removal or an import. It names the change and asks first. With a session, it is the last change of this one.

    sessions undo                the last change
    sessions undo --list         what can be taken back
    sessions undo 8f14           the last change of this session
    sessions undo --list 8f14    what was kept of it
    sessions undo 20260801T1015  the removal with this receipt

Nothing is lost: what a session has now is kept beside it, and a fork or an imported session goes to the trash, so an undo can be undone. What was added to since stays, and is named. Sessions that an import updated stay as they are, and so do forks with what the other tool no longer has.

In a pipe, what is not named by its session, or takes a session away, needs --yes.`
}

// Run undoes.
func (c *undoCommand) Run(a *app) error {
	if c.What == "" {
		return c.last(a)
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
	if c.Backup != "" {
		return c.transcript(a, t)
	}
	own, err := c.ofSession(a, t)
	if err != nil {
		return err
	}
	if len(own) == 0 || own[0].kind != "fork" && own[0].kind != "import" {
		return c.transcript(a, t)
	}
	if sure, err := c.sure(a, own[0]); err != nil || !sure {
		return err
	}
	return c.takeAway(a, own[0], []target{t})
}

// ofSession returns the changes of a session that is there, the last one first.
func (c *undoCommand) ofSession(a *app, t target) (all []change, err error) {
	notes, imported := a.importNotes(), false
	for i := range notes {
		for _, s := range notes[i].Made {
			if s.ID == t.id && sameDir(filepath.Join(notes[i].Root, s.Project, "sessions"), t.store.Dir()) {
				imported = true
				all = append(all, change{at: notes[i].At, kind: "import", target: t, made: &notes[i]})
			}
		}
	}
	s, err := t.store.Summary(a.ctx, t.id)
	if err == nil || errors.Is(err, sessionstore.ErrCorrupt) { // what was kept of it is there
		var own []change
		own, err = a.changesOf(t, s, imported)
		all = append(all, own...)
	}
	if errors.Is(err, sessionstore.ErrCorrupt) {
		err = nil // the undo of its transcript says so
	}
	slices.SortStableFunc(all, func(x, y change) int { return y.at.Compare(x.at) })
	return all, err
}

// last takes back the last change, or lists the changes.
func (c *undoCommand) last(a *app) error {
	if c.Backup != "" {
		return usageError{"--backup: name the session, too"}
	}
	all, err := a.changes(c.where)
	if err != nil {
		return err
	}
	if c.List {
		return a.changeTable(all)
	}
	if len(all) == 0 {
		if a.json {
			return a.writeJSON(object{{"status", slice.NoUndoNeeded}})
		}
		a.Notef("There is nothing to take back.")
		return nil
	}
	chosen := all[0]
	if sure, err := c.sure(a, chosen); err != nil || !sure {
		return err
	}
	switch chosen.kind {
	case "removal":
		return a.restore([]binned{*chosen.bin})
	case "fork":
		return c.takeAway(a, chosen, []target{chosen.target})
	case "import":
		stores, _, err := a.stores(c.where)
		if err != nil {
			return err
		}
		var made []target
		for _, s := range chosen.made.Made {
			if t, ok := s.in(chosen.made.Root, stores); ok {
				made = append(made, t)
			}
		}
		return c.takeAway(a, chosen, made)
	}
	return c.transcript(a, chosen.target)
}

// sure names a change and asks whether it is to be taken back.
func (c *undoCommand) sure(a *app, last change) (bool, error) {
	if c.Yes {
		return true, nil
	}
	what := fmt.Sprintf("%s, %s", last.words(), screen.Ago(a.now(), last.at))
	if !a.Answers() || a.json {
		return false, usageError{"the last change is " + what + ": --yes takes it back, undo --list shows all"}
	}
	yes, err := a.Confirm(a.ctx, "The last change is "+what+". Take it back?")
	if errors.Is(err, io.EOF) {
		err = errors.New("nobody answers: --yes takes it back without a question")
	}
	if err == nil && !yes {
		a.Printf("%s\n", a.Paint(screen.Yellow, "Cancelled"))
	}
	return yes, err
}

// transcript brings back the transcript that was kept before the last change of a session.
func (c *undoCommand) transcript(a *app, t target) error {
	backup := c.Backup
	if backup != "" {
		backup = filepath.Base(backup)
	}
	report, err := slice.Undo(a.ctx, t.store, t.id, backup, &slice.UndoOptions{Force: c.Force})
	if errors.Is(err, slice.ErrWentOn) {
		return errors.New("the session went on since: --force brings the kept transcript back all the same, and keeps what is there now")
	}
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(report)
	}
	if report.Status == slice.NoUndoNeeded {
		a.Printf("%s is as it was kept: nothing was written.\n", screen.Plain(t.id))
		return nil
	}
	a.Printf("%s Undone: %s has %s again\n", a.Paint(screen.Green, "✓"), screen.Plain(t.id), count(report.Messages, "message"))
	a.kept(report.BackupPath)
	return nil
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
		return a.changeTable([]change{b.change()})
	}
	return a.restore([]binned{b})
}

// staysHere is a session that an undo leaves, and why.
type staysHere struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// takeAway moves the sessions that a fork or an import made to the trash.
func (c *undoCommand) takeAway(a *app, last change, made []target) error {
	stays := []staysHere{}
	by, stores := map[string][]string{}, map[string]*sessionstore.Store{}
	for _, t := range made {
		grew, err := c.grew(a, last, t)
		if err != nil {
			return err
		}
		if grew && !c.Force {
			stays = append(stays, staysHere{t.id, "something was added since"})
			continue
		}
		by[t.store.Dir()] = append(by[t.store.Dir()], t.id)
		stores[t.store.Dir()] = t.store
	}
	receipts, gone := []string{}, []string{}
	var failed error
	for _, dir := range slices.Sorted(maps.Keys(by)) {
		plan, err := trash.NewPlan(a.ctx, stores[dir], by[dir], &trash.Options{Reason: "undo of " + last.kind, Allow: []trash.Kind{trash.Recent, trash.Unsynced}})
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
		if done.Receipt.ID != "" {
			receipts = append(receipts, done.Receipt.ID)
		}
		for _, s := range done.Receipt.Sessions {
			gone = append(gone, s.ID)
		}
		for _, f := range done.Failed {
			stays = append(stays, staysHere{f.ID, explain(f.Err)})
		}
	}
	wrong := len(stays)
	switch {
	case failed != nil && len(gone) == 0:
		return failed
	case failed != nil:
		a.Notef("%s %s", a.PaintError(screen.Red, "failed:"), screen.Lines(explain(failed)))
		wrong++
	}
	slices.Sort(receipts)
	if a.json {
		err := a.writeJSON(struct {
			Status   string      `json:"status"`
			Change   string      `json:"change"`
			Receipts []string    `json:"receipts"`
			Removed  []string    `json:"removed"`
			Stays    []staysHere `json:"stays"`
		}{"taken_back", last.kind, receipts, gone, stays})
		return errors.Join(err, partly(wrong))
	}
	for _, s := range stays {
		a.Notef("%s %s: %s", a.PaintError(screen.Yellow, "stays:"), screen.Plain(s.ID), screen.Lines(s.Why))
	}
	if len(gone) > 0 {
		a.Printf("%s Undone: %s to the trash\n", a.Paint(screen.Green, "✓"), count(len(gone), "session"))
	}
	for _, r := range receipts {
		a.Printf("  %s brings back what is in the trash\n", a.Paint(screen.Cyan, "sessions undo "+r))
	}
	if last.made != nil && last.made.Updated > 0 {
		a.Printf("  %s that the import updated stay as they are\n", count(last.made.Updated, "session"))
	}
	return partly(wrong)
}

// grew reports whether something was added to a session since the change that made it.
func (c *undoCommand) grew(a *app, last change, t target) (bool, error) {
	if last.made == nil {
		return last.wentOn(a.ctx)
	}
	for _, s := range last.made.Made {
		if s.ID == t.id {
			fi, err := os.Stat(filepath.Join(t.dir(), transcriptName))
			return err == nil && fi.Size() != s.Bytes, nil
		}
	}
	return true, nil
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
		Receipt  string `json:"receipt,omitempty"`
	}
	shown, rows := []listed{}, [][]string{}
	for _, c := range all {
		one := listed{c.kind, c.at.UTC().Format(time.RFC3339), c.project(), c.id, c.title, c.more + 1, ""}
		title := c.title
		if c.bin != nil {
			one.Receipt = c.bin.ID
		}
		if c.more > 0 {
			title = strings.TrimSpace(title + " and " + count(c.more, "more"))
		}
		shown = append(shown, one)
		rows = append(rows, []string{a.when(c.at), c.kind, c.id, title, c.project()})
	}
	return a.list(shown, "There is nothing to take back.", []screen.Column{
		{Title: "Time", Drop: 2, Tint: screen.In(screen.Yellow)},
		{Title: "Change", Tint: screen.In(screen.Cyan)},
		idColumn(),
		{Title: "Title", Min: 12},
		a.projectColumn(1),
	}, rows)
}

// backups lists the transcripts that were kept of a session.
func (a *app) backups(t target) error {
	all, err := slice.Backups(a.ctx, t.store, t.id)
	if err != nil {
		return err
	}
	if a.json {
		out := list{}
		for _, b := range all {
			out = append(out, object{
				{"name", b.Name},
				{"kept_before", b.Label},
				{"time", moment(b.Time)},
				{"bytes", b.Size},
				{"events", known(b.Events)},
			})
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
