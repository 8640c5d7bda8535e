package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
	"github.com/amplifier-go/sessionstorage/slice"
)

// change is a change that undo takes back: of a transcript, a fork, a removal or an import.
type change struct {
	at     time.Time
	kind   string // repair, rewind, salvage, undo, fork, removal or import
	target        // the session; of a removal and an import the first one
	title  string
	more   int         // further sessions
	bin    *binned     // of a removal
	made   *importNote // of an import
}

// project returns the name of the session's project.
func (c change) project() string { return projectOf(c.target) }

// words names the change for people.
func (c change) words() string {
	text := "the " + c.kind + " of " + screen.Plain(c.id)
	if c.kind == "fork" {
		text = "the fork " + screen.Plain(c.id)
	}
	if c.title != "" {
		text += " " + fmt.Sprintf("%q", screen.Fit(screen.Plain(c.title), 40))
	}
	if c.more > 0 {
		text += " and " + count(c.more, "more session")
	}
	return text + " in " + screen.Plain(c.project())
}

// changes returns the changes that can be taken back in the projects that w names, the last
// one first.
func (a *app) changes(w where) ([]change, error) {
	bins, err := a.bins(w)
	if err != nil {
		return nil, err
	}
	stores, _, err := a.stores(w) // bins wrote which cannot be read
	if err != nil {
		return nil, err
	}
	var all []change
	for i := range bins {
		if len(bins[i].Sessions) > 0 {
			all = append(all, bins[i].change())
		}
	}
	notes, imported := a.importNotes(), map[string]bool{}
	for i := range notes {
		if c, ok := notes[i].change(stores); ok {
			all = append(all, c)
		}
		for _, s := range notes[i].Made {
			imported[s.ID] = true
		}
	}
	var failed []error
	for _, st := range stores {
		for s, err := range st.Summaries(a.ctx, &sessionstore.ListOptions{All: true}) {
			if err == nil {
				var own []change
				own, err = a.changesOf(target{st, s.ID}, s, imported[s.ID])
				all = append(all, own...)
			}
			if err != nil {
				failed = append(failed, err)
			}
		}
	}
	if err := a.ctx.Err(); err != nil {
		return nil, err
	}
	a.warn(errors.Join(failed...))
	slices.SortStableFunc(all, func(x, y change) int { return y.at.Compare(x.at) })
	return all, nil
}

// change returns the removal of the sessions of a receipt.
func (b *binned) change() change {
	at := finer(filepath.Join(b.store.Dir(), ".trash", b.ID, "sessions"), b.At)
	return change{at: at, kind: "removal", target: target{b.store, b.Sessions[0].ID}, title: b.Sessions[0].Name, more: len(b.Sessions) - 1, bin: b}
}

// changesOf returns the changes of one session, except its removal and its import.
func (a *app) changesOf(t target, s sessionstore.Summary, imported bool) (all []change, err error) {
	kept, err := slice.Backups(a.ctx, t.store, t.id)
	for i, b := range kept {
		if i == 0 { // an undo takes back the newest
			at := finer(filepath.Join(t.dir(), transcriptName), b.Time)
			all = append(all, change{at: at, kind: strings.TrimPrefix(b.Label, "pre-"), target: t, title: s.Title})
		}
	}
	if err != nil || !s.Fork || s.ConflictOf != "" || imported {
		return all, err
	}
	md, err := t.store.Metadata(a.ctx, t.id)
	if err != nil {
		return all, err
	}
	if _, ok := md.Lookup("import"); ok {
		return all, nil
	}
	if at, err := projects.ParseDate(md.Text("forked_at")); err == nil {
		all = append(all, change{at: at, kind: "fork", target: t, title: s.Title})
	}
	return all, nil
}

// finer returns the time of a file or directory that a change wrote whose time, at, is known
// to the second, else at: something may have written the file since.
func finer(path string, at time.Time) time.Time {
	fi, err := os.Lstat(path)
	if err != nil || fi.ModTime().Before(at) || fi.ModTime().Sub(at) >= 2*time.Second {
		return at
	}
	return fi.ModTime()
}

// wentOn reports whether something was added to a fork since it was made.
func (c change) wentOn(ctx context.Context) (bool, error) {
	s, err := c.store.Load(ctx, c.id)
	if s == nil {
		return false, err
	}
	if turn, ok := s.Metadata.Int("forked_from_turn"); ok && slice.CountTurns(s.Messages) > turn {
		return true, nil
	}
	for _, m := range s.Messages {
		if at, ok := m.Timestamp(); ok && at.After(c.at) {
			return true, nil
		}
	}
	return false, nil
}

// importNote is what this tool keeps of an import, so that undo finds it.
type importNote struct {
	At      time.Time  `json:"at"`
	From    string     `json:"from"` // the tool, or ""
	Root    string     `json:"root"` // the directory of projects
	Made    []madeNote `json:"made"`
	Updated int        `json:"updated"` // sessions that were there before

	file string
}

// madeNote is a session that an import made.
type madeNote struct {
	Project string `json:"project"`
	ID      string `json:"id"`
	Bytes   int64  `json:"bytes"` // of its transcript
}

// mostNotes limits the imports that undo knows.
const mostNotes = 100

// notesDir returns the directory of the notes of imports.
func notesDir(env func(string) string) (string, error) {
	state := env("AMPLIFIER_SESSION_STATE_HOME")
	if state == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		state = filepath.Join(home, ".local", "state", "amplifier")
	}
	return filepath.Join(state, "sessions-tool", "imports"), nil
}

// note adds a session to the note.
func (n *importNote) note(root, project, id string) {
	made := madeNote{Project: project, ID: id}
	if fi, err := os.Stat(filepath.Join(root, project, "sessions", id, transcriptName)); err == nil {
		made.Bytes = fi.Size()
	}
	n.Made = append(n.Made, made)
}

// keepNote keeps the note of an import that is over, and removes the oldest notes.
func keepNote(env func(string) string, n importNote) error {
	if len(n.Made) == 0 && n.Updated == 0 {
		return nil
	}
	dir, err := notesDir(env)
	if err != nil {
		return err
	}
	text, err := json.Marshal(n)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, n.At.UTC().Format("20060102T150405.000000000Z")+".json"), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("note the import for undo: %w", err)
	}
	names, err := noteFiles(dir)
	for _, name := range names[:max(0, len(names)-mostNotes)] {
		err = cmp.Or(err, os.Remove(name))
	}
	return err
}

// noteImport is [keepNote]. The import is done, whatever becomes of its note.
func (a *app) noteImport(n importNote) {
	if err := keepNote(a.env, n); err != nil {
		a.Notef("%s %s", a.PaintError(screen.Yellow, "note:"), screen.Lines(explain(err)))
	}
}

// noteFiles returns the files of the notes, the oldest first.
func noteFiles(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".json" {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names, err
}

// importNotes returns the notes that can be read.
func (a *app) importNotes() (all []importNote) {
	dir, err := notesDir(a.env)
	if err != nil {
		return nil
	}
	names, _ := noteFiles(dir)
	for _, name := range names {
		n := importNote{file: name}
		if text, err := os.ReadFile(name); err == nil && json.Unmarshal(text, &n) == nil {
			all = append(all, n)
		}
	}
	return all
}

// change returns the import as a change, if one of its sessions is still in stores.
func (n *importNote) change(stores []*sessionstore.Store) (c change, ok bool) {
	for _, s := range n.Made {
		t, found := s.in(n.Root, stores)
		switch {
		case !found:
		case ok:
			c.more++
		default:
			c, ok = change{at: n.At, kind: "import", target: t, title: n.From, made: n}, true
		}
	}
	return c, ok
}

// in returns the session, if it is in one of stores.
func (s madeNote) in(root string, stores []*sessionstore.Store) (target, bool) {
	dir := filepath.Join(root, s.Project, "sessions")
	for _, st := range stores {
		if st.Dir() == dir && st.Exists(s.ID) {
			return target{st, s.ID}, true
		}
	}
	return target{}, false
}

// noteHistories returns the note of an import of histories.
func (r *historyResult) noteHistories(at time.Time, tool, root string) importNote {
	n := importNote{At: at, From: tool, Root: root}
	for _, s := range r.Sessions {
		switch {
		case s.Kind == foreign.Former: // no other session and no tool has what it keeps
		case s.Action == foreign.Created:
			n.note(root, s.Project, s.ID)
		case s.Action == foreign.Updated:
			n.Updated++
		}
	}
	return n
}
