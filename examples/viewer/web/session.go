package web

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/viewer/host"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/sessionstore/turn"
	"github.com/amplifier-go/sessionstorage/slice"
)

// panel is the part of a session's page that is shown at once.
type panel struct {
	ID, Title, Path, API string
	Status               string
	Facts                []fact
	Notices              []notice
	Messages, Turns      int
	Logs                 [2]int64 // sizes; -1: there is none
	Phases               bool     // it has phase outputs
	Conversation         bool     // it has one about its workflow
	Decisions            bool     // it may have some
	Command              string   // resumes it in a shell
	Origin, Onward       string   // the tool from which it came, and the command that goes on there
	Hidden               bool     // some messages stand before a compaction
	Write                bool     // forks are made
}

type fact struct{ Name, Value string }

// notice is a problem of a session, or a former one.
type notice struct {
	Kind string // damage, recovered, broken or draft
	Text string
}

func (s *Server) session(w http.ResponseWriter, r *request) error {
	l, err := s.listing(r)
	if err != nil {
		return err
	}
	p, err := s.panel(r)
	if err != nil {
		return err
	}
	return s.page(w, "session.html", map[string]any{"Title": p.Title, "List": l, "Panel": p})
}

// shownDraft is how many bytes of a draft are shown.
const shownDraft = 4 << 10

func (s *Server) panel(r *request) (*panel, error) {
	shot, err := r.read().snapshot(r.Context())
	if err != nil {
		return nil, err
	}
	path := pathOf(r.at.name, r.id)
	md := shot.metadata
	p := &panel{
		ID: r.id, Title: r.titleOf(md, r.id), Path: path, API: "/api" + path,
		Status: md.Text("status"), Messages: shot.total, Turns: shot.turns,
		Notices: shot.notices(), Logs: r.read().logs(),
	}
	if d, err := turn.ReadDraft(r.Context(), r.at.store, r.id); err == nil && d.Prompt > 0 {
		p.Notices = append(p.Notices, notice{"draft", "an answer was interrupted, or is written now: " + strings.ToValidUTF8(d.Text[:min(len(d.Text), shownDraft)], "")})
	}
	p.Facts, p.Write = factsOf(md, r.id), s.options.Write
	p.Command = host.ResumeLine(host.Program(s.options.Host), md.Text("working_dir"), r.id)
	if tool := host.Origin(md); tool != "" {
		p.Origin, p.Onward = host.Tool(tool), host.OnwardLine(md.Text("working_dir"), tool, r.id)
	}
	p.Hidden, _ = foreign.Longer(r.at.store, r.id) // what cannot be read has none
	p.Conversation, p.Decisions = r.read().has(conversationFile), r.read().has(decisionFiles...)
	phases, err := r.at.log.Phases(r.Context(), r.id, 0)
	switch {
	case err != nil:
		p.Notices = append(p.Notices, notice{"damage", err.Error()})
	case phases.Damage != nil:
		p.Notices = append(p.Notices, damages(phases.Damage)...)
	}
	if p.Phases = len(phases.Records) > 0; p.Phases && p.Status == "" {
		p.Status = "in_progress" // as for a resume
	}
	return p, nil
}

// hidden leads to the last message that stands before the last compaction.
func (s *Server) hidden(w http.ResponseWriter, r *request) error {
	n, err := foreign.Hidden(r.Context(), r.at.store, r.id)
	if err == nil {
		http.Redirect(w, r.Request, fmt.Sprintf("%s#%d", pathOf(r.at.name, r.id), max(n, 1)), http.StatusSeeOther)
	}
	return err
}

// factsOf returns facts from the metadata, in the order in which they are shown.
func factsOf(md sessionstore.Metadata, id string) (facts []fact) {
	add := func(name, value string) {
		if value != "" && value != "unknown" {
			facts = append(facts, fact{name, value})
		}
	}
	add("id", id)
	add("name", md.Text("name"))
	add("model", md.Text("model"))
	bundle, _ := md.Bundle()
	add("bundle", bundle)
	created := md.Text("created")
	if at, ok := md.Created(); ok {
		created = clock(at)
	}
	add("created", created)
	add("directory", md.Text("working_dir"))
	return facts
}

// notices returns the problems of a session.
func (s *snapshot) notices() (all []notice) {
	if s.damage != nil {
		all = append(all, damages(s.damage)...)
	}
	if rec := s.recovered; rec != nil {
		all = append(all, notice{"recovered", fmt.Sprintf("read %s instead; %s", filepath.Base(rec.From), damageText(rec.Reason))})
	}
	if len(s.aside) > 0 {
		all = append(all, notice{"recovered", "damaged bytes are kept in " + strings.Join(s.aside, ", ")})
	}
	switch {
	case !s.broken():
	case s.view == nil:
		all = append(all, notice{"broken", fmt.Sprintf("calls without a result: %d", s.open)})
	default:
		all = append(all, notice{"broken", brokenText(s.view.Diagnosis)})
	}
	return all
}

// damages returns a notice for each error that was joined into err.
func damages(err error) (all []notice) {
	switch e := err.(type) {
	case *sessionstore.CorruptError:
		return []notice{{"damage", damageText(e)}}
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			all = append(all, damages(err)...)
		}
		return all
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); errors.Is(inner, sessionstore.ErrCorrupt) && inner != sessionstore.ErrCorrupt {
			return damages(inner)
		}
	}
	return []notice{{"damage", err.Error()}}
}

// damageText returns the place of the damage and its reason. It names the file without
// the directory, which is the session's.
func damageText(err error) string {
	var c *sessionstore.CorruptError
	switch {
	case !errors.As(err, &c):
		return err.Error()
	case c.Line == 0:
		return fmt.Sprintf("%s: %v", filepath.Base(c.Path), c.Err)
	}
	return fmt.Sprintf("%s: line %d at byte %d: %v", filepath.Base(c.Path), c.Line, c.Offset, c.Err)
}

// broken reports whether calls and results do not match. Of a long transcript
// it looks for calls without a result alone.
func (s *snapshot) broken() bool {
	return s.view == nil && s.open > 0 || s.view != nil && !s.view.Diagnosis.Healthy()
}

func brokenText(d slice.Diagnosis) string {
	text := "the conversation cannot be continued: " + strings.ReplaceAll(strings.Join(d.Modes, ", "), "_", " ")
	if n := len(d.Orphaned); n > 0 {
		text += fmt.Sprintf("; calls without a result: %d", n)
	}
	if n := len(d.Misplaced); n > 0 {
		text += fmt.Sprintf("; results out of place: %d", n)
	}
	if d.Action != "none" {
		text += "; recommended: " + d.Action
	}
	return text
}

// health is the facts for the list that take a reading of the session.
type health struct {
	Damaged   bool     `json:"damaged"`
	Recovered bool     `json:"recovered"`
	Broken    bool     `json:"broken"`
	Turns     int      `json:"turns"`
	Notes     []string `json:"notes"`
}

// health reads a session without keeping it.
func (s *Server) health(w http.ResponseWriter, r *request) error {
	shot, err := (&readings{store: r.at.store, id: r.id}).snapshot(r.Context())
	if err != nil {
		return err
	}
	h := health{
		Damaged: shot.damage != nil, Recovered: shot.recovered != nil,
		Broken: shot.broken(), Turns: shot.turns, Notes: []string{},
	}
	for _, n := range shot.notices() {
		h.Notes = append(h.Notes, n.Text)
	}
	return answer(w, h)
}

// relative is another session of the lineage.
type relative struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Path  string `json:"path"` // "": it is not there
	Kind  string `json:"kind"` // parent, ancestor, fork or sub-session
	Turn  *int   `json:"turn,omitempty"`
	Turns int    `json:"turns,omitempty"`
}

// lineage answers with the ancestors and the children of a session.
func (s *Server) lineage(w http.ResponseWriter, r *request) error {
	l, err := slice.Trace(r.Context(), r.at.store, r.id)
	if err != nil && !errors.Is(err, sessionstore.ErrCorrupt) {
		return err
	}
	out := struct {
		Relatives []relative `json:"relatives"`
		Turn      *int       `json:"forked_from_turn"`
		Cyclic    bool       `json:"cyclic"`
		Skipped   int        `json:"skipped"` // sessions that could not be read
	}{[]relative{}, l.Turn, l.Cyclic, len(l.Skipped)}
	for i, id := range l.Ancestors {
		kind := "ancestor"
		if i == 0 {
			kind = "parent"
		}
		out.Relatives = append(out.Relatives, r.relative(id, kind))
	}
	for _, c := range l.Children {
		id := filepath.Base(c.Dir)
		rel := r.relative(id, "sub-session")
		if rel.Turn = c.Turn; c.Turn != nil || c.ForkedAt != nil {
			rel.Kind = "fork"
		}
		if s, err := r.at.store.Summary(r.Context(), id); err == nil && s.ConflictOf != "" {
			rel.Kind = "conflict copy"
		}
		rel.Turns = c.Turns
		out.Relatives = append(out.Relatives, rel)
	}
	return answer(w, out)
}

// titleOf returns the title of a session of the request's project: one that has no name is
// called by its first prompt, as in the list.
func (r *request) titleOf(md sessionstore.Metadata, id string) string {
	if title := titleOf(md, ""); title != "" {
		return title
	}
	s, _ := r.at.store.Summary(r.Context(), id) // one that cannot be read has no title
	return cmp.Or(s.Title, id)
}

func (r *request) relative(id, kind string) relative {
	rel := relative{ID: id, Title: id, Kind: kind}
	if r.at.store.Exists(id) {
		rel.Path = pathOf(r.at.name, id)
		if md, err := r.at.store.Metadata(r.Context(), id); err == nil {
			rel.Title = r.titleOf(md, id)
		}
	}
	return rel
}
