package recall

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/examples/viewer/host"
	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

// about are the arguments that say which sessions a tool is about.
type about struct {
	Project string `json:"project,omitempty" jsonschema:"only of projects whose name holds this"`
	After   string `json:"after,omitempty" jsonschema:"only after this time, as 2026-08-01 or 2026-08-01T10:30"`
	Before  string `json:"before,omitempty" jsonschema:"only before this time"`
	Tool    string `json:"tool,omitempty" jsonschema:"only of sessions of this program: claude or codex, or native for those of Amplifier"`
}

func (f about) times() (after, before time.Time, err error) {
	if f.After != "" {
		after, err = projects.ParseDate(f.After)
	}
	if f.Before != "" && err == nil {
		before, err = projects.ParseDate(f.Before)
	}
	return after, before, err
}

// session is a session that is told.
type session struct {
	*sessionstore.View
	st    *sessionstore.Store
	row   row // what all rows of it say
	found int // rows that were yielded
}

// open opens a session, if it may be told and f is about it; else it returns nil.
func (a *asked) open(ctx context.Context, project, id string, f about) *session {
	if !a.within(project) || !strings.Contains(project, f.Project) || filepath.Base(id) != id {
		return nil
	}
	if _, err := os.Stat(filepath.Join(a.Projects.Dir(), project, "sessions", id)); err != nil { // Store would make a project that was removed
		return nil
	}
	st, err := a.Projects.Store(project)
	if err != nil || !hybrid.Told(ctx, st, id) {
		return nil
	}
	md, _ := st.Metadata(ctx, id) // of damaged ones what could be read
	tool := cmp.Or(host.Origin(md), "native")
	if f.Tool != "" && f.Tool != tool {
		return nil
	}
	v, _ := st.View(ctx, id) // as are damaged messages
	if v == nil {
		return nil
	}
	return &session{View: v, st: st, row: row{Session: id, Project: project, Tool: tool}}
}

func (s *session) close() {
	if s != nil {
		_ = s.Close() // only read
	}
}

// named opens the session of that id. The error is the same for one that is not told and for one
// that never was.
func (a *asked) named(ctx context.Context, id string) (s *session, err error) {
	slugs, _ := a.Projects.Slugs(ctx)
	for i := 0; i < len(slugs) && s == nil; i++ {
		s = a.open(ctx, slugs[i], id, about{})
	}
	if s == nil {
		return nil, errors.New("there is no such session")
	}
	return s, nil
}

// each calls do for what was found, with its session, where that may be told and f is about it.
// do reports whether to go on.
func each[H any](ctx context.Context, a *asked, f about, found iter.Seq2[H, error], of func(H) projects.Found, do func(*session, H) bool) {
	dir, s := "", (*session)(nil)
	defer func() { s.close() }()
	for h, err := range found {
		if err != nil { // also of a session that is not told
			continue
		}
		if at := of(h); at.Dir != dir {
			s.close()
			dir, s = at.Dir, a.open(ctx, at.Project, filepath.Base(at.Dir), f)
		}
		if s != nil && !do(s, h) {
			return
		}
	}
}

// redacted returns a message without its secrets. The row is redacted whole: a part of it need not
// show a secret.
func (a *asked) redacted(m sessionstore.Message, err error) (sessionstore.Message, error) {
	if err != nil {
		return m, err
	}
	return sessionstore.ParseMessage(a.Rules.Line(m.AppendTo(nil)))
}

// said returns the texts of a message without its secrets, as rows of the session.
func (a *asked) said(ctx context.Context, s *session, n, turn int) (all []row) {
	rows, err := s.Range(ctx, n, 1)
	if err != nil || len(rows) == 0 {
		return nil
	}
	m, err := a.redacted(rows[0], nil)
	if err != nil {
		return nil
	}
	view, err := conversation.New([]sessionstore.Message{m})
	if err != nil {
		return nil
	}
	shown, r := view.Messages(0, 1, conversation.Limits{})[0], s.row
	r.Turn, r.Time = turn, shown.Time
	add := func(who, text string) {
		if r.Who, r.Text = who, text; text != "" {
			all = append(all, r)
		}
	}
	who := shown.Role
	if shown.Injected || who != "user" && who != "assistant" {
		who = "system"
	}
	if shown.Text != nil {
		add(who, shown.Text.Text)
	}
	for _, c := range shown.Calls {
		add("call", c.Name+" "+c.Arguments.Text)
	}
	for _, result := range shown.Results {
		add("result", result.Text.Text)
	}
	return all
}

const longestTitle = 200

// title returns the row with the name of a session, or else with its first prompt. The title of a
// list is cut before it is redacted, so it is not told.
func (a *asked) title(ctx context.Context, s *session) row {
	r := s.row
	r.Who, r.Turns = "title", s.Turns()
	md, _ := s.st.Metadata(ctx, r.Session)
	if json.Unmarshal(a.Rules.Line(quoted(md.Text("name"))), &r.Text) == nil && r.Text != "" {
		return r
	}
	if first, err := s.Start(ctx, 1); err == nil {
		if all := a.said(ctx, s, first, 0); len(all) > 0 {
			r.Text, _, _ = strings.Cut(strings.TrimSpace(all[0].Text), "\n")
			r.Text = strings.ToValidUTF8(r.Text[:min(len(r.Text), longestTitle)], "")
		}
	}
	return r
}
