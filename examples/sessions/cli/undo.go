package cli

import (
	"cmp"
	"context"
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
	Backup string `placeholder:"FILE" help:"Which kept file to bring back (default: that of the last change)."`
	List   bool   `short:"l" help:"Show instead what can be taken back, or what was kept of the session."`
	Drop   bool   `help:"Remove instead what was kept, of the session or of all, and say how much that frees."`
	Yes    bool   `short:"y" help:"Do not ask."`
	Force  bool   `help:"Also when the session went on since, or when what is there cannot be read."`
}

// Help is shown below the usage.
func (undoCommand) Help() string {
	return `Takes back the last change of this tool on this machine, whatever it was: a repair, a rewind, a rename, a fork, a removal or an import. It names the change and asks first. A second undo takes back the change before that; "sessions redo" goes forward again. With a session, it is the last change of this one, also by another program that kept a copy.

    sessions undo                the last change
    sessions undo --list         what can be taken back
    sessions undo 8f14           the last change of this session
    sessions undo --list 8f14    what was kept of it, and what undo and redo bring next
    sessions undo 20260801T1015  the removal with this receipt

Nothing is lost: what a session has now is kept beside it until --drop, and a fork or an imported session goes to the trash. What was added to since stays, and so do sessions that an import updated, and what was imported of a file that is gone. Each is named with the reason, and the exit code is 1. --list marks a session that went on since.

In a pipe, what is not named by its session, takes a session away, or drops what was kept, needs --yes.`
}

type redoCommand struct {
	Session string `arg:"" optional:"" name:"session" help:"A session; default: the last change of all that was taken back."`
	everywhere
	Yes bool `short:"y" help:"Do not ask."`
}

// Help is shown below the usage.
func (redoCommand) Help() string {
	return `Makes the change again that the last undo took back, and asks first. A second redo makes the one again that was taken back before it. After another change, and where the session went on since, there is nothing to redo; what was kept is still there, and "sessions undo --list SESSION" shows it.

In a pipe, what is not named by its session needs --yes.`
}

// way is a direction in which changes are gone through.
type way string

const (
	back  way = "undo"
	forth way = "redo"
)

// mover goes one change back or forth.
type mover struct {
	way        way
	yes, force bool
}

// Run undoes.
func (c *undoCommand) Run(a *app) error {
	m := mover{back, c.Yes, c.Force}
	switch {
	case c.Drop && (c.List || c.Force || c.Backup != ""):
		return usageError{"--drop goes with --yes alone"}
	case c.Drop:
		return c.drop(a)
	case c.What == "" && c.Backup != "":
		return usageError{"--backup: name the session, too"}
	case c.What == "" && c.List:
		all, err := a.moves(back, c.where)
		if err != nil {
			return err
		}
		return a.changeTable(slices.DeleteFunc(all, func(c change) bool { return len(c.sessions) == 0 }))
	case c.What == "":
		return m.last(a, c.where, "")
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
		return m.step(a, t, filepath.Base(c.Backup))
	}
	undo, err := m.next(a, t)
	if err != nil {
		return err
	}
	if len(undo) > 0 {
		return m.step(a, t, "")
	}
	all, err := a.changes([]*sessionstore.Store{t.store}, nil)
	a.noteFailed(err) // what was kept comes back without notes, too
	for _, made := range all {
		own := func(s placed) bool { return s.id == t.id }
		if i := slices.IndexFunc(made.sessions, own); i >= 0 && made.made() {
			made.target, made.sessions, made.stays = t, made.sessions[i:i+1], nil
			return m.move(a, made)
		}
	}
	return m.step(a, t, "")
}

// Run redoes.
func (c *redoCommand) Run(a *app) error {
	m := mover{way: forth, yes: c.Yes}
	if c.Session == "" {
		return m.last(a, c.where, "")
	}
	t, err := (anywhere{c.Session, c.where}).reach(a)
	if errors.Is(err, sessionstore.ErrNotFound) { // an undo may have moved it to the trash
		all, failed := a.moves(forth, c.where)
		for _, made := range all {
			if slices.ContainsFunc(made.sessions, func(s placed) bool { return strings.HasPrefix(s.id, c.Session) }) {
				return m.last(a, c.where, c.Session)
			}
		}
		err = cmp.Or(failed, err)
	}
	if err != nil {
		return err
	}
	return m.step(a, t, "")
}

// moves returns the changes of the projects that w names that can be gone through.
func (a *app) moves(direction way, w where) ([]change, error) {
	bins, err := a.bins(w)
	if err != nil {
		return nil, err
	}
	stores, _, err := a.stores(w) // bins wrote which cannot be read
	if err != nil {
		return nil, err
	}
	return a.passable(direction, stores, bins)
}

// next returns the copies of a session that m brings back.
func (m mover) next(a *app, t target) ([]slice.Backup, error) {
	undo, redo, err := slice.Steps(a.ctx, t.store, t.id)
	if m.way == forth {
		return redo, err
	}
	return undo, err
}

// last goes to the last change, of session id where that is given, that was not taken back, or
// was taken back last.
func (m mover) last(a *app, w where, id string) error {
	all, err := a.moves(m.way, w)
	if err != nil {
		return err
	}
	for _, c := range all {
		if id != "" && !slices.ContainsFunc(c.sessions, func(s placed) bool { return strings.HasPrefix(s.id, id) }) {
			continue
		}
		if len(c.sessions) == 0 || c.sessions[0].Kept == "" {
			return m.move(a, c)
		}
		next, err := m.next(a, c.target)
		at := slices.IndexFunc(next, func(b slice.Backup) bool { return b.Name == c.sessions[0].Kept })
		switch {
		case err != nil:
			return err
		case at == 0:
			return m.move(a, c)
		case at > 0:
			return fmt.Errorf("%s was changed by another program after %s: sessions %s %s begins with that", screen.Plain(c.id), a.titled(c).words(), m.way, screen.Plain(c.id))
		} // else it was gone through already, or cannot be any more
	}
	if a.json {
		return a.writeLine(object{{"status", "no-" + string(m.way) + "-needed"}})
	}
	a.Notef("%s", map[way]string{back: "There is nothing to take back.", forth: "There is nothing to redo."}[m.way])
	return nil
}

// move takes back a change or makes it again, after a question.
func (m mover) move(a *app, last change) error {
	last = a.titled(last)
	if len(last.sessions) == 0 && len(last.stays) == 0 {
		text := "the last change is %s, which is neither there nor in the trash: sessions undo --list shows what can be taken back by its name"
		if m.way == forth {
			text = "the last change that was taken back is %s, which is neither there nor in the trash: sessions redo SESSION makes a change of another session again"
		}
		return fmt.Errorf(text, last.words())
	}
	if sure, err := m.sure(a, last); err != nil || !sure {
		return err
	}
	switch {
	case len(last.bins) > 0:
		return m.restore(a, last)
	case len(last.sessions) == 0 || last.sessions[0].Kept == "":
		return m.takeAway(a, last)
	}
	return m.step(a, last.target, "")
}

// sure names a change and asks whether to go on.
func (m mover) sure(a *app, last change) (bool, error) {
	if m.yes || len(last.sessions) == 0 {
		return true, nil
	}
	what, ask := fmt.Sprintf("%s, %s", last.words(), screen.Ago(a.now(), last.At)), "The last change is %s. Take it back?"
	hint := "the last change is %s: --yes takes it back, undo --list shows all"
	if m.way == forth {
		ask, hint = "The last change that was taken back is %s. Make it again?", "the last change that was taken back is %s: --yes makes it again"
	}
	if !a.Answers() || a.json {
		return false, usageError{fmt.Sprintf(hint, what)}
	}
	return a.agrees(fmt.Sprintf(ask, what), false)
}

// moved notes that a change was taken back or made again.
func (m mover) moved(a *app, of time.Time, sessions []noted) {
	for i := range sessions {
		sessions[i].Of = of
	}
	a.changed(string(m.way), "", sessions...)
}

// restore brings sessions back from the trash.
func (m mover) restore(a *app, last change) error {
	err := a.restore(last.bins)
	var came []noted
	for _, s := range last.sessions {
		if s.store.Exists(s.id) {
			came = append(came, s.noted)
		}
	}
	m.moved(a, last.At, came)
	return err
}

// step brings back what was kept of a session: of the last change, or backup.
func (m mover) step(a *app, t target, backup string) error {
	next, err := m.next(a, t)
	if err != nil {
		return err
	}
	named := backup != "" && (len(next) == 0 || backup != next[0].Name)
	if backup == "" && len(next) > 0 {
		backup = next[0].Name
	}
	var report slice.UndoReport
	if m.way == forth {
		report, err = slice.Redo(a.ctx, t.store, t.id)
	} else {
		report, err = slice.Undo(a.ctx, t.store, t.id, backup, &slice.UndoOptions{Force: m.force})
	}
	if errors.Is(err, slice.ErrWentOn) {
		return fmt.Errorf("session %s went on since: --force brings back what was kept all the same, and keeps what is there now", screen.Plain(t.id))
	}
	if errors.Is(err, sessionstore.ErrCorrupt) && !m.force {
		return fmt.Errorf("%s; --force brings back what was kept all the same, and keeps what is there now", explain(err))
	}
	if err != nil {
		return err
	}
	has := count(report.Messages, "message")
	if report.Name != nil {
		has = strings.ReplaceAll(fmt.Sprintf("the name %q", screen.Plain(*report.Name)), `the name ""`, "no name")
	}
	done := map[slice.Status]string{slice.Undone: "Undone", slice.Redone: "Redone"}[report.Status] + ": " + screen.Plain(t.id) + " has " + has + " again"
	if report.BackupPath == "" || named && report.Status == slice.Undone {
		idle := ""
		if report.Status == slice.NoUndoNeeded {
			idle = screen.Plain(t.id) + " is as it was kept:"
		}
		return a.rewrote("undo", t, report.BackupPath, report, idle, done)
	}
	command, does := "sessions redo %s", "makes the change again"
	if report.Status == slice.Redone {
		m.way, command, does = forth, "sessions undo %s", "takes it back"
	}
	s := t.noted()
	s.Kept = filepath.Base(report.BackupPath)
	made, undone, err := a.replayed()
	a.noteFailed(err)
	of := a.now() // the change of another program
	for _, n := range map[way][]changeNote{back: made, forth: undone}[m.way] {
		if slices.ContainsFunc(n.Sessions, func(o noted) bool { return o.Dir == s.Dir && o.ID == s.ID && o.Kept == backup }) {
			of = n.At
		}
	}
	m.moved(a, of, []noted{s})
	return a.tellKept(t, s.Kept, report, done, command, does)
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
	one := change{changeNote: changeNote{At: b.At, Kind: "removal"}, target: target{b.store, b.Sessions[0].ID}, sessions: make([]placed, len(b.Sessions)), bins: []binned{b}}
	if c.List {
		return a.changeTable([]change{one})
	}
	for _, direction := range []way{back, forth} { // an undo may have made the removal
		of, err := a.moves(direction, c.where)
		a.noteFailed(err)
		for _, last := range of {
			if slices.ContainsFunc(last.bins, func(in binned) bool { return in.ID == b.ID }) {
				last.bins = one.bins
				return mover{way: direction}.restore(a, last)
			}
		}
	}
	return a.restore(one.bins)
}

// takeAway moves the sessions to the trash that a fork or an import made, or that were removed
// before.
func (m mover) takeAway(a *app, last change) error {
	stays, receipts, went := filled(last.stays), []string{}, []string{}
	by := map[*sessionstore.Store][]placed{}
	for _, s := range last.sessions {
		by[s.store] = append(by[s.store], s)
	}
	var failed error
	for st, own := range by {
		plan, added, err := m.plan(a, last, st, own)
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
		m.moved(a, last.At, gone(done.Receipt))
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
		}{map[way]string{back: "taken_back", forth: "made_again"}[m.way], last.Kind, receipts, went, stays})
		return errors.Join(err, partly(wrong))
	}
	for _, s := range stays {
		a.Notef("%s %s: %s", a.PaintError(screen.Yellow, "stays:"), screen.Plain(s.ID), screen.Lines(s.Why))
	}
	if len(went) > 0 {
		done, other, does := "Undone", forth, "makes the change again"
		if m.way == forth {
			done, other, does = "Redone", back, "takes it back"
		}
		a.Printf("%s %s: %s to the trash\n", a.Paint(screen.Green, "✓"), done, count(len(went), "session"))
		a.Printf("  %s %s\n", a.Paint(screen.Cyan, "sessions "+string(other)), does)
	}
	return partly(wrong)
}

// plan plans the removal of sessions of a store. A session stays when something was added to
// it since, and when the file that it was imported from is gone. plan compares once the plan
// is made: the removal leaves a session that is written later.
func (m mover) plan(a *app, last change, st *sessionstore.Store, all []placed) (plan *trash.Plan, stays []staysHere, err error) {
	for {
		ids := []string{}
		for _, s := range all {
			ids = append(ids, s.id)
		}
		plan, err = trash.NewPlan(a.ctx, st, ids, &trash.Options{Reason: string(m.way) + " of " + last.Kind, Allow: []trash.Kind{trash.Recent, trash.Unsynced}})
		all = slices.DeleteFunc(all, func(s placed) bool {
			why := s.obstacle()
			if why == "" || m.force {
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
	if now := s.target.noted(); !s.Modified.IsZero() && (now.Bytes != s.Bytes || !now.Modified.Equal(s.Modified)) {
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
		if len(c.bins) > 0 {
			one.Receipt = c.bins[0].ID
		}
		for _, s := range c.sessions {
			if len(c.bins) == 0 && !seen[s.target.dir()] { // a former change is of what a later one left
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

// drop removes what was kept of a session, or of all, after a question.
func (c *undoCommand) drop(a *app) error {
	all, err := c.keeping(a)
	if err != nil {
		return err
	}
	has, err := all.sum(a, slice.Backups)
	if err != nil {
		return err
	}
	if has.Copies > 0 && !c.Yes {
		if !a.Answers() || a.json {
			return usageError{fmt.Sprintf("it would free %s: --yes does it", has)}
		}
		if yes, err := a.agrees(fmt.Sprintf("Free %s for good? No undo brings back what was kept then.", has), false); err != nil || !yes {
			return err
		}
	}
	gone, err := all.sum(a, slice.DropBackups)
	if a.json {
		return errors.Join(err, a.writeJSON(object{{"status", "dropped"}, {"sessions", gone.Sessions}, {"copies", gone.Copies}, {"bytes", gone.Bytes}}))
	}
	a.Printf("%s Freed %s\n", a.Paint(screen.Green, "✓"), gone)
	return err
}

type targets []target

// keeping returns the session that c names, or all of the projects.
func (c *undoCommand) keeping(a *app) (all targets, err error) {
	if c.What != "" {
		t, err := (anywhere{c.What, c.where}).reach(a)
		return targets{t}, err
	}
	stores, unread, err := a.stores(c.where)
	a.warn(unread)
	for _, st := range stores {
		infos, failed := st.List(a.ctx, &sessionstore.ListOptions{All: true})
		err = errors.Join(err, failed)
		for _, info := range infos {
			all = append(all, target{st, info.ID})
		}
	}
	return all, err
}

// kept counts what was kept of sessions.
type kept struct {
	Sessions, Copies int
	Bytes            int64
}

func (k kept) String() string {
	return fmt.Sprintf("%s (%s) of %s", size(k.Bytes), count(k.Copies, "copy"), count(k.Sessions, "session"))
}

// sum adds up the copies that of returns for each session.
func (all targets) sum(a *app, of func(context.Context, *sessionstore.Store, string) ([]slice.Backup, error)) (k kept, err error) {
	for _, t := range all {
		copies, failed := of(a.ctx, t.store, t.id)
		err = errors.Join(err, failed)
		for _, b := range copies {
			k.Bytes += b.Size + b.Log
		}
		k.Copies += len(copies)
		k.Sessions += min(1, len(copies))
	}
	return k, err
}

// backups lists what was kept of a session.
func (a *app) backups(t target) error {
	all, err := slice.Backups(a.ctx, t.store, t.id)
	undo, redo, failed := slice.Steps(a.ctx, t.store, t.id)
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	bringing := func(b slice.Backup) string {
		switch {
		case len(undo) > 0 && undo[0].Name == b.Name:
			return string(back)
		case len(redo) > 0 && redo[0].Name == b.Name:
			return string(forth)
		}
		return ""
	}
	if a.json {
		type backup struct {
			Name   string  `json:"name"`
			Label  string  `json:"kept_before"`
			Time   *string `json:"time"`
			Bytes  int64   `json:"bytes"`
			Events *string `json:"events"`
			Next   *string `json:"next"`
		}
		out := []backup{}
		for _, b := range all {
			out = append(out, backup{b.Name, b.Label, moment(b.Time), b.Size, known(b.Events), known(bringing(b))})
		}
		return a.writeJSON(out)
	}
	if len(all) == 0 {
		a.Notef("Nothing of %s is kept: it was neither repaired nor rewound nor renamed, or the copies were dropped.", screen.Plain(t.id))
		return nil
	}
	var rows [][]string
	for _, b := range all {
		events := "no"
		if b.Events != "" {
			events = "yes"
		}
		rows = append(rows, []string{a.clock(b.Time, time.DateTime), b.Label, size(b.Size), events, bringing(b), b.Name})
	}
	a.Table([]screen.Column{
		{Title: "Kept", Tint: screen.In(screen.Yellow)},
		{Title: "Before", Tint: screen.In(screen.Cyan)},
		{Title: "Size", Right: true, Drop: 2},
		{Title: "Events", Drop: 1},
		{Title: "Next", Tint: screen.In(screen.Green)},
		{Title: "File", Min: 20, Drop: 3},
	}, rows)
	return nil
}
