package recall

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/viewer/host"
	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

// about are the arguments that say which sessions a tool is about.
type about struct {
	Name   string `json:"project,omitempty" jsonschema:"only of projects whose name holds this"`
	After  string `json:"after,omitempty" jsonschema:"only after this time, as 2026-08-01 or 2026-08-01T10:30"`
	Before string `json:"before,omitempty" jsonschema:"only before this time"`
	Tool   string `json:"tool,omitempty" jsonschema:"only of sessions of this program: claude, codex, copilot, opencode or pi, or native for those of Amplifier"`
	page
}

func (f about) asked() about { return f }

func (p page) asked() about { return about{page: p} }

// call is one call of a tool.
type call struct {
	*Server
	about
	part
	slugs []string       // the projects that it is about
	query projects.Query // what about says
	dir   string         // of the last hit
	last  *session       // of it
}

// choose reads what about says. c.slugs are the projects that may be shown.
func (c *call) choose(ctx context.Context) error {
	slugs, err := c.Projects.Slugs(ctx)
	c.slugs = slices.DeleteFunc(slugs, func(slug string) bool {
		return !c.All && !slices.Contains(c.slugs, slug) || !strings.Contains(c.shown(slug), c.Name)
	})
	c.query.Skip = func(dir string) bool {
		return !slices.Contains(c.slugs, filepath.Base(filepath.Dir(filepath.Dir(dir))))
	}
	if c.query.Tool = c.Tool; len(c.slugs) == 1 {
		c.query.Project = c.slugs[0]
	}
	if c.After != "" && err == nil {
		c.query.After, err = projects.ParseDate(c.After)
	}
	if c.Before != "" && err == nil {
		c.query.Before, err = projects.ParseDate(c.Before)
	}
	return err
}

// shown returns a text, as the name of a project, without the secrets in it.
func (c *call) shown(text string) string { return string(c.Rules.Line([]byte(text))) }

// session is a session in an answer.
type session struct {
	*sessionstore.View
	st    *sessionstore.Store
	row   row // what all rows of it say
	found int // in it
}

// open opens a session, if it may be shown and the call is about it; else it returns nil.
func (c *call) open(ctx context.Context, project, id string) *session {
	if !slices.Contains(c.slugs, project) {
		return nil
	}
	st, err := c.Projects.Store(project)
	if err != nil || !hybrid.Told(ctx, st, id) {
		return nil
	}
	md, _ := st.Metadata(ctx, id) // of damaged ones what could be read
	tool := cmp.Or(host.Origin(md), "native")
	if c.Tool != "" && c.Tool != tool {
		return nil
	}
	v, _ := st.View(ctx, id) // as are damaged messages
	if v == nil {
		return nil
	}
	return &session{View: v, st: st, row: row{Session: id, Project: c.shown(project), Tool: tool}}
}

func (s *session) close() {
	if s != nil {
		_ = s.Close() // only read
	}
}

// named opens the session of that id. The error is the same for a session that must not be shown and for one
// that never was.
func (c *call) named(ctx context.Context, id string) (s *session, err error) {
	for i := 0; i < len(c.slugs) && s == nil; i++ {
		s = c.open(ctx, c.slugs[i], id)
	}
	if s == nil {
		err = errors.New("there is no such session")
	}
	return s, err
}

// at returns the session of a hit, which is often the session of the hit before; nil: it must not be shown.
func (c *call) at(ctx context.Context, hit projects.Found) *session {
	if hit.Dir != c.dir {
		c.last.close()
		c.dir, c.last = hit.Dir, c.open(ctx, hit.Project, filepath.Base(hit.Dir))
	}
	return c.last
}

// longestRow is the size from which a message is left out: the rules take some times the memory.
const longestRow = 8 << 20

// redacted returns message n of a session without its secrets, or a sentence for one that is long.
// The row is redacted whole: a part of it need not show a secret.
func (c *call) redacted(m sessionstore.Message, n int) (sessionstore.Message, error) {
	row := m.AppendTo(nil)
	if len(row) > longestRow {
		row = quoted(map[string]any{"role": m.Role(), "content": fmt.Sprintf("Message %d is left out: it has %d MB.", n, len(row)>>20)})
	}
	return sessionstore.ParseMessage(c.Rules.Line([]byte(c.joined(string(row), new(bool)).(string))))
}

// said returns the texts of message n of a session without its secrets, nothing where it cannot be
// read, or where it is not worth redacting: it lacks what is looked for.
func (c *call) said(ctx context.Context, s *session, n, turn int, worth func([]row) bool) []row {
	rows, err := s.Range(ctx, n, 1)
	if err != nil || len(rows) == 0 || worth != nil && !worth(s.texts(rows[0], turn)) {
		return nil
	}
	m, err := c.redacted(rows[0], n)
	if err != nil {
		return nil
	}
	return s.texts(m, turn)
}

// texts returns the texts of a message.
func (s *session) texts(of sessionstore.Message, turn int) (all []row) {
	view, err := conversation.New([]sessionstore.Message{of})
	if err != nil {
		return nil
	}
	m, r := view.Messages(0, 1, conversation.Limits{})[0], s.row
	r.Turn, r.Time = turn, m.Time
	add := func(who, text string) {
		if r.Who, r.Text = who, text; text != "" {
			all = append(all, r)
		}
	}
	if m.Injected || m.Role != "user" && m.Role != "assistant" {
		m.Role = "system"
	}
	if m.Text != nil {
		add(m.Role, m.Text.Text)
	}
	for _, call := range m.Calls {
		add("call", call.Name+" "+call.Arguments.Text)
	}
	for _, result := range m.Results {
		add("result", result.Text.Text)
	}
	return all
}

const longestTitle = 200

// title returns the row with the name of a session, or else with its first prompt. The title of a
// list is cut before it is redacted, so it is not used.
func (c *call) title(ctx context.Context, s *session) row {
	r := s.row
	r.Who, r.Turns = "title", s.Turns()
	md, _ := s.st.Metadata(ctx, r.Session)
	if json.Unmarshal(c.Rules.Line(quoted(md.Text("name"))), &r.Text) == nil && r.Text != "" {
		return r
	}
	if first, err := s.Start(ctx, 1); err == nil {
		if all := c.said(ctx, s, first, 0, nil); len(all) > 0 {
			r.Text, _, _ = strings.Cut(strings.TrimSpace(all[0].Text), "\n")
			r.Text = strings.ToValidUTF8(r.Text[:min(len(r.Text), longestTitle)], "")
		}
	}
	return r
}
