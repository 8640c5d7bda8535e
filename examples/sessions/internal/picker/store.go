package picker

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive"
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
	"github.com/amplifier-go/sessionstorage/slice"
)

// Limits of reading for the screen.
const (
	previewTurns = 3
	previewBytes = 4000 // of one text
	turnBytes    = 200  // of the text that a turn is shown by
	listEvery    = 50 * time.Millisecond
	firstFrame   = 20 * time.Millisecond // in which the first session is drawn, before the others are read
)

// store carries out actions on stored sessions. Its methods may be called by
// several goroutines.
type store struct {
	projects *projects.Projects
	project  string // the only one for which histories of other tools are offered; "": all
	unsynced func(st *sessionstore.Store) func(ctx context.Context, ids []string) (map[string]string, error)
}

// list sends all sessions as [Listed] messages, newest first: the first session at once,
// and the others many at a time.
func (s store) list(ctx context.Context, gen int, project string, subs bool, tell func(tea.Msg)) {
	var some []Session
	var unread []error
	next := time.Time{}
	for sum, err := range Summaries(ctx, s.projects, project, &sessionstore.ListOptions{All: subs, NoInternal: true}) {
		if err != nil && sum.Project == "" {
			tell(Listed{gen, some, true, err, unread})
			return
		}
		if err != nil {
			unread = append(unread, err)
			continue
		}
		some = append(some, sessionOf(sum))
		if now := time.Now(); !now.Before(next) {
			tell(Listed{Gen: gen, Sessions: some})
			if next.IsZero() {
				pause(ctx, firstFrame)
			}
			some, next = nil, now.Add(listEvery)
		}
	}
	tell(Listed{Gen: gen, Sessions: some, Done: true, Unread: unread})
}

// pause waits for so long, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// Summaries yields the sessions of a project, or of all for "", newest first. An error
// without a project ended the list.
func Summaries(ctx context.Context, p *projects.Projects, project string, opts *sessionstore.ListOptions) iter.Seq2[projects.Summary, error] {
	if project == "" {
		return p.Summaries(ctx, opts)
	}
	return func(yield func(projects.Summary, error) bool) {
		st, err := p.Store(project)
		if err != nil {
			yield(projects.Summary{}, err)
			return
		}
		for sum, err := range st.Summaries(ctx, opts) {
			of := project
			if sum.ID == "" { // the error ended the list
				of = ""
			}
			if !yield(projects.Summary{Project: of, Summary: sum}, err) {
				return
			}
		}
	}
}

func sessionOf(s projects.Summary) Session {
	return Session{
		Key: Key{s.Project, s.ID}, Title: clean(s.Title), Stored: s.Title, Prompt: clean(s.FirstPrompt), Dir: s.WorkingDir, Model: clean(s.Model),
		Changed: s.Changed, Turns: s.Prompts, Fork: s.Fork, Sub: !sessionstore.IsTopLevel(s.ID), Parent: s.Parent, Damaged: s.Damaged, Conflict: s.ConflictOf != "",
	}
}

// turns reads the first text of each turn of a session, by which a turn is shown.
func (s store) turns(ctx context.Context, k Key) tea.Msg {
	st, err := s.projects.Store(k.Project)
	if err != nil {
		return TurnsRead{Key: k, Err: err}
	}
	loaded, err := st.Load(ctx, k.ID)
	if loaded == nil {
		return TurnsRead{Key: k, Err: err}
	}
	var turns []string
	for t := range slice.Turns(loaded.Messages) {
		text := clean(screen.Start(loaded.Messages[t.Start].Content(), turnBytes))
		turns = append(turns, text)
	}
	return TurnsRead{Key: k, Turns: turns}
}

func (s store) fork(ctx context.Context, k Key, turn int) tea.Msg {
	st, err := s.projects.Store(k.Project)
	if err != nil {
		return Forked{Err: err}
	}
	forked, err := slice.Fork(ctx, st, k.ID, &slice.ForkOptions{Turn: &turn})
	return Forked{Key{k.Project, forked.ID}, turn, err}
}

// export writes a new file, in the form that the end of its name selects.
func (s store) export(ctx context.Context, k Key, file string) tea.Msg {
	form := archive.Format(strings.TrimPrefix(strings.ToLower(filepath.Ext(file)), "."))
	switch form {
	case archive.Tar, archive.JSONL, archive.Markdown, archive.HTML:
	default:
		return Exported{file, errors.New("the name must end in .md, .html, .jsonl or .tar")}
	}
	st, err := s.projects.Store(k.Project)
	if err == nil {
		err = archive.WriteFile(ctx, file, st, []string{k.ID}, &archive.WriteOptions{Format: form})
	}
	return Exported{file, err}
}

// removal returns the options to remove a session in spite of the obstacles in allow.
func (s store) removal(st *sessionstore.Store, allow []trash.Kind) *trash.Options {
	o := &trash.Options{Reason: "delete", Allow: allow}
	if s.unsynced != nil {
		o.Unsynced = s.unsynced(st)
	}
	return o
}

// plan returns a [Planned] message with the obstacles to the removal of a session.
func (s store) plan(ctx context.Context, session Session) tea.Msg {
	e := Planned{Session: session}
	st, err := s.projects.Store(session.Project)
	if err != nil {
		e.Err = err
		return e
	}
	p, err := trash.NewPlan(ctx, st, []string{session.ID}, s.removal(st, nil))
	if err != nil {
		e.Err = err
		return e
	}
	var texts []string
	for _, kept := range p.Keep {
		for _, o := range kept.Obstacles {
			texts = append(texts, o.Text)
			e.Allow = append(e.Allow, o.Kind)
			e.Refused = e.Refused || !o.Kind.CanAllow()
		}
	}
	e.Obstacle = strings.Join(texts, "; ")
	return e
}

func (s store) remove(ctx context.Context, session Session, allow []trash.Kind) tea.Msg {
	e := Deleted{Key: session.Key, Name: session.name()}
	st, err := s.projects.Store(session.Project)
	if err != nil {
		e.Err = err
		return e
	}
	done, err := trash.Delete(ctx, st, []string{session.ID}, s.removal(st, allow))
	e.Receipt, e.Err = done.Receipt, err
	for _, f := range done.Failed {
		e.Err = errors.Join(e.Err, f.Err)
	}
	if e.Err == nil && len(done.Receipt.Sessions) == 0 {
		e.Err = errors.New("something began to stand against it, try again")
	}
	return e
}

func (s store) restore(ctx context.Context, k Key, r trash.Receipt) tea.Msg {
	st, err := s.projects.Store(k.Project)
	if err != nil {
		return Restored{k, err}
	}
	done, err := trash.Restore(ctx, st, r, nil)
	for _, f := range done.Failed {
		err = errors.Join(err, f.Err)
	}
	return Restored{k, err}
}

// rename gives a session a name. It keeps the former one.
func (s store) rename(ctx context.Context, k Key, name string) tea.Msg {
	st, err := s.projects.Store(k.Project)
	if err != nil {
		return Renamed{Key: k, Name: name, Err: err}
	}
	report, err := slice.RenameSession(ctx, st, k.ID, name)
	return Renamed{k, name, report.BackupPath, err}
}
