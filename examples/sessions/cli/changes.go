package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/picker"
	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
)

// changeNote is a line in which this tool keeps what a command changed, for undo. The command
// writes it when the change is done, so a process that is killed in between leaves a change
// without a note, and never a note without a change. The notes of one time and kind are one
// change.
type changeNote struct {
	At       time.Time `json:"at"`
	Kind     string    `json:"change"`         // repair, rewind, salvage, rescue, rename, fork, removal, import, undo or redo
	From     string    `json:"from,omitempty"` // tool or archive of an import
	Sessions []noted   `json:"sessions"`
}

// noted is a session that a change made, changed or removed.
type noted struct {
	Dir      string    `json:"dir"` // of sessions
	ID       string    `json:"id"`
	Bytes    int64     `json:"bytes"`             // of the transcript after the change
	Modified time.Time `json:"modified"`          // and its time
	Kept     string    `json:"kept,omitempty"`    // name of the copy of the transcript
	Receipt  string    `json:"receipt,omitempty"` // of a removal
	Source   string    `json:"source,omitempty"`  // file that was imported
	Stays    string    `json:"stays,omitempty"`   // why an undo leaves the session
	Of       time.Time `json:"of,omitzero"`       // the change that an undo took back or a redo made again; zero: the note is a change of its own
}

// noted returns the session with its transcript as it is now.
func (t target) noted() noted {
	s := noted{Dir: absolute(t.store.Dir()), ID: t.id}
	if fi, err := os.Stat(filepath.Join(t.dir(), transcriptName)); err == nil {
		s.Bytes, s.Modified = fi.Size(), fi.ModTime()
	}
	return s
}

// notesFile returns the path of the file of notes, which is this user's on this machine: what
// a sync brings from other machines is no change of this tool. The file only grows, by some
// 250 bytes for each session of a change.
func notesFile(env func(string) string) (string, error) {
	state := env("AMPLIFIER_SESSION_STATE_HOME")
	if state == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		state = filepath.Join(home, ".local", "state", "amplifier")
	}
	return filepath.Join(state, "sessions-tool", "changes.jsonl"), nil
}

// foundNotes returns the directory beside that file in which a search of other tools notes what
// it found, "" where there is none.
func foundNotes(env func(string) string) string {
	path, err := notesFile(env)
	if err != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(path), "found")
}

// keepNote adds a note durably to the file of notes: in one write, as a line of its own also
// behind a line that a crash cut off.
func keepNote(env func(string) string, n changeNote) error {
	if len(n.Sessions) == 0 {
		return nil
	}
	path, err := notesFile(env)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	}
	if err == nil {
		line, _ := json.Marshal(n) // it has nothing that JSON cannot hold
		_, err = f.Write(slices.Concat([]byte("\n"), line, []byte("\n")))
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err != nil {
		return fmt.Errorf("note the %s for undo: %w", n.Kind, err)
	}
	return nil
}

// changed is [keepNote] of a change that was done now. It is done, whatever becomes of its note.
func (a *app) changed(kind, from string, sessions ...noted) {
	a.noteFailed(keepNote(a.env, changeNote{a.now(), kind, from, sessions}))
}

func (a *app) noteFailed(err error) {
	if err != nil {
		a.Notef("%s %s", a.PaintError(screen.Yellow, "note:"), screen.Lines(explain(err)))
	}
}

// picked notes what the picker changed, which has no place for an error of a note.
func (a *app) picked(p *projects.Projects, outcome any) {
	n := changeNote{At: a.now()}
	switch e := outcome.(type) {
	case picker.Forked:
		if st, err := p.Store(e.Key.Project); err == nil && e.Err == nil {
			n.Kind, n.Sessions = "fork", []noted{target{st, e.Key.ID}.noted()}
		}
	case picker.Deleted:
		n.Kind, n.Sessions = "removal", gone(e.Receipt)
	case picker.Renamed:
		if st, err := p.Store(e.Key.Project); err == nil && e.Kept != "" {
			s := target{st, e.Key.ID}.noted()
			s.Kept = filepath.Base(e.Kept)
			n.Kind, n.Sessions = "rename", []noted{s}
		}
	}
	_ = keepNote(a.env, n)
}

// gone returns the sessions of a receipt.
func gone(r trash.Receipt) (all []noted) {
	for _, s := range r.Sessions {
		all = append(all, noted{Dir: absolute(r.From), ID: s.ID, Receipt: r.ID})
	}
	return all
}

// imported returns the sessions that an import of a history made or brought up to date.
func imported(p *projects.Projects, h foreign.History, report *foreign.Report) (all []noted) {
	for _, s := range report.Sessions {
		st, err := p.Store(report.Project)
		if err != nil || s.Action == foreign.Unchanged {
			continue
		}
		one := target{st, s.ID}.noted()
		one.Source = h.Path
		if s.Action == foreign.Updated {
			one.Stays = "the import updated it, and kept no copy of what it was"
		}
		all = append(all, one)
	}
	return all
}

// notes returns the changes of this tool, in order. It leaves out lines that cannot be read.
func (a *app) notes() ([]changeNote, error) {
	path, err := notesFile(a.env)
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("read the notes of changes: %w", err)
	}
	all, at := []changeNote{}, map[string]int{}
	for line := range bytes.Lines(text) {
		n := changeNote{}
		if json.Unmarshal(line, &n) != nil || len(n.Sessions) == 0 {
			continue
		}
		call := n.At.Format(time.RFC3339Nano) + n.Kind
		if i, ok := at[call]; ok {
			all[i].Sessions = append(all[i].Sessions, n.Sessions...)
			continue
		}
		at[call] = len(all)
		all = append(all, n)
	}
	return all, nil
}

// replayed returns the changes that were not taken back, and those that redo makes again, both
// in order. A new change ends redo.
func (a *app) replayed() (made, undone []changeNote, err error) {
	notes, err := a.notes()
	for _, n := range notes {
		from, to := &made, &undone
		if way(n.Kind) == forth {
			from, to = to, from
		}
		of := n.Sessions[0].Of
		if of.IsZero() {
			made, undone = append(made, n), nil
			continue
		}
		i := slices.IndexFunc(*from, func(c changeNote) bool { return c.At.Equal(of) })
		if i < 0 { // the change of another program
			*to = append(*to, changeNote{At: of, Kind: "change", Sessions: n.Sessions})
			continue
		}
		moved, rest := n.split((*from)[i])
		if *from = slices.Delete(*from, i, i+1); len(rest.Sessions) > 0 {
			*from = slices.Insert(*from, i, rest)
		}
		if i = slices.IndexFunc(*to, func(c changeNote) bool { return c.At.Equal(of) }); i >= 0 { // another part of it
			moved.Sessions = slices.Concat((*to)[i].Sessions, moved.Sessions)
			*to = slices.Delete(*to, i, i+1)
		}
		*to = append(*to, moved)
	}
	return made, undone, err
}

// split returns the part of the change c that n took back or made again, as n left its
// sessions, and the rest.
func (n changeNote) split(c changeNote) (moved, rest changeNote) {
	moved, rest = c, c
	moved.Sessions, rest.Sessions = nil, nil
	for _, s := range c.Sessions {
		j := slices.IndexFunc(n.Sessions, func(now noted) bool { return now.Dir == s.Dir && now.ID == s.ID })
		if j < 0 {
			rest.Sessions = append(rest.Sessions, s)
			continue
		}
		s.Kept, s.Receipt = n.Sessions[j].Kept, cmp.Or(n.Sessions[j].Receipt, s.Receipt)
		moved.Sessions = append(moved.Sessions, s)
	}
	return moved, rest
}

// change is a change that undo takes back, or redo makes again.
type change struct {
	changeNote
	target            // its first session
	sessions []placed // of which this is possible
	stays    []staysHere
	bins     []binned // from which sessions come back
	summary  sessionstore.Summary
	place    string // the name of its project for people
}

// placed is a session of a change.
type placed struct {
	noted
	target
}

// staysHere is a session that an undo leaves, and why.
type staysHere struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// made reports whether the change made its sessions.
func (n changeNote) made() bool { return n.Kind == "fork" || n.Kind == "import" }

// words names the change for people.
func (c change) words() string {
	text := "the " + c.Kind + " of " + screen.Plain(c.id)
	if c.Kind == "fork" {
		text = "the fork " + screen.Plain(c.id)
	}
	if c.summary.Title != "" {
		text += " " + fmt.Sprintf("%q", screen.Fit(screen.Plain(c.summary.Title), 40))
	}
	if more := len(c.sessions) - 1; more > 0 {
		text += " and " + count(more, "more session")
	}
	return text + " in " + screen.Plain(c.place)
}

// changes returns the changes of sessions in stores, the last one first, without those that
// were taken back. Those of which nothing can be taken back any more have no sessions.
func (a *app) changes(stores []*sessionstore.Store, bins []binned) ([]change, error) {
	return a.passable(back, stores, bins)
}

// passable is changes, or returns in the same way those that redo makes again.
func (a *app) passable(direction way, stores []*sessionstore.Store, bins []binned) ([]change, error) {
	made, undone, err := a.replayed()
	if direction == forth {
		made = undone
	}
	return found(direction, made, stores, bins), err
}

// found looks for the sessions of changes in stores and in the trash.
func found(w way, notes []changeNote, stores []*sessionstore.Store, bins []binned) (all []change) {
	in, trashed := map[string]*sessionstore.Store{}, map[string]*binned{}
	for _, st := range stores {
		in[absolute(st.Dir())] = st
	}
	for i, b := range bins {
		for _, s := range b.Sessions {
			trashed[filepath.Join(absolute(b.store.Dir()), s.ID)] = &bins[i]
		}
	}
	for _, n := range slices.Backward(notes) {
		c, past := change{changeNote: n}, false
		inTrash := n.made() && w == forth || n.Kind == "removal" && w == back
		for _, s := range n.Sessions {
			if in[s.Dir] == nil {
				continue
			}
			t, bin := target{in[s.Dir], s.ID}, trashed[filepath.Join(s.Dir, s.ID)]
			there := t.store.Exists(s.ID)
			switch {
			case s.Stays != "":
				c.stays = append(c.stays, staysHere{s.ID, s.Stays})
			case inTrash && bin != nil && bin.ID == s.Receipt:
				if !slices.ContainsFunc(c.bins, func(b binned) bool { return b.ID == bin.ID }) {
					c.bins = append(c.bins, *bin)
				}
				c.sessions = append(c.sessions, placed{s, t})
			case !inTrash && there && (s.Kept == "" || isRegular(filepath.Join(t.dir(), s.Kept))):
				c.sessions = append(c.sessions, placed{s, t})
			default:
				past = past || bin != nil || there
			}
			if c.store == nil {
				c.target = t
			}
		}
		if len(c.sessions) > 0 {
			c.target = c.sessions[0].target
		}
		if c.store != nil && (!past || len(c.sessions) > 0) {
			all = append(all, c)
		}
	}
	return all
}

// titled returns the change with what is known of its session.
func (a *app) titled(c change) change {
	project := projectOf(c.target)
	c.place = a.places([]string{project})(project)
	switch {
	case c.From != "":
		c.summary.Title = c.From
	case len(c.bins) > 0:
		i := slices.IndexFunc(c.bins[0].Sessions, func(s trash.Session) bool { return s.ID == c.id })
		c.summary.Title = c.bins[0].Sessions[max(0, i)].Name
	default:
		c.summary, _ = c.store.Summary(a.ctx, c.id) // a change without a title is named, too
	}
	return c
}
