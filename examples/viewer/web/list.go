package web

import (
	"cmp"
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// pageSize is the number of sessions on a page.
const pageSize = 100

// item is a session in the list.
type item struct {
	ID, Title, Path string
	Status, Model   string
	Prompts         int // prompts of a person
	Modified        time.Time
	Parent          string // id; "": none
	Kind            string // sub-session, fork, or ""
	Damaged         bool   // its metadata
	Reason          string // why it cannot be read; "": it can
}

// listing is a page of the list.
type listing struct {
	Project  string
	Dir      string // of the project
	Path     string
	Projects []projectLink
	Items    []item
	Total    int
	All      bool
	Toggle   string // address of the list with, or without, sub-sessions
	Newer    string // address of the page before; "": none
	Older    string
	Open     string // id of the session that is open
}

// projectLink is a project in a list of projects.
type projectLink struct {
	Name, Path string
	Dir        string // of the project, else its name
	Open       bool
	Reason     string // why it cannot be read; "": it can, or nothing is known

	// These are known on the first page alone.
	Sessions int // without sub-sessions
	Failed   int // sessions that cannot be read
}

func (p *Places) linksTo(ctx context.Context, names []string, open string) (links []projectLink) {
	for _, name := range names {
		links = append(links, projectLink{Name: name, Path: pathOf(name, ""), Dir: p.dir(ctx, name), Open: name == open})
	}
	return links
}

func (s *Server) list(w http.ResponseWriter, r *request) error {
	l, err := s.listing(r)
	if err != nil {
		return err
	}
	return s.page(w, "list.html", map[string]any{"Title": l.Dir, "List": l})
}

// listing reads the page of the list that the request asks for.
func (s *Server) listing(r *request) (*listing, error) {
	names, err := s.places.names(r.Context())
	if err != nil {
		return nil, err
	}
	l := &listing{Project: r.at.name, Dir: s.places.dir(r.Context(), r.at.name), Path: pathOf(r.at.name, ""), Projects: s.places.linksTo(r.Context(), names, r.at.name), Open: r.id}
	query := r.URL.Query()
	l.All = query.Get("all") != "" || r.id != "" && !sessionstore.IsTopLevel(r.id)
	var all []sessionstore.Summary
	var failed []item
	for row, err := range r.at.store.Summaries(r.Context(), &sessionstore.ListOptions{All: l.All}) {
		switch {
		case err == nil:
			all = append(all, row)
		case row.ID == "":
			return nil, err
		default:
			failed = append(failed, item{ID: row.ID, Title: row.ID, Path: pathOf(r.at.name, row.ID), Modified: row.Changed, Reason: err.Error()})
		}
	}
	l.Total = len(all) + len(failed)
	from := l.turnTo(all, query)
	for _, row := range all[from:min(from+pageSize, len(all))] {
		it, err := r.at.item(r.Context(), row)
		if errors.Is(err, sessionstore.ErrNotFound) {
			continue // removed just now
		}
		if err != nil {
			return nil, err
		}
		if query.Get("all") != "" {
			it.Path += "?all=1"
		}
		l.Items = append(l.Items, it)
	}
	if from == 0 {
		l.Items = append(l.Items, failed...)
	}
	return l, nil
}

// turnTo finds the page, or the page of the open session when none is named, sets the
// addresses of its neighbours and returns its first session.
func (l *listing) turnTo(all []sessionstore.Summary, query url.Values) (from int) {
	page, err := strconv.Atoi(query.Get("page"))
	if err != nil && l.Open != "" {
		for i, row := range all {
			if row.ID == l.Open {
				page = i / pageSize
			}
		}
	}
	last := max(0, len(all)-1) / pageSize
	page = min(max(page, 0), last)
	if page > 0 {
		l.Newer = l.address(page-1, l.All)
	}
	if page < last {
		l.Older = l.address(page+1, l.All)
	}
	l.Toggle = l.address(0, !l.All)
	return page * pageSize
}

func (l *listing) address(page int, all bool) string {
	q := url.Values{}
	if all {
		q.Set("all", "1")
	}
	if page > 0 {
		q.Set("page", strconv.Itoa(page))
	}
	if len(q) == 0 {
		return l.Path
	}
	return l.Path + "?" + q.Encode()
}

// item reads the facts of a session for the list.
func (p *place) item(ctx context.Context, s sessionstore.Summary) (item, error) {
	md, err := p.store.Metadata(ctx, s.ID)
	damaged := errors.Is(err, sessionstore.ErrCorrupt)
	if err != nil && !damaged {
		return item{}, err
	}
	kind := kindOf(md, s.ID)
	if s.ConflictOf != "" {
		kind = "conflict copy"
	}
	return item{
		ID: s.ID, Path: pathOf(p.name, s.ID), Title: titleOf(md, cmp.Or(s.Title, s.ID)), Modified: s.Changed,
		Status: md.Text("status"), Model: md.Text("model"), Parent: md.Text("parent_id"), Damaged: damaged,
		Kind: kind, Prompts: s.Prompts,
	}, nil
}

// titleOf returns the name by which a session is shown, or other when it has none.
func titleOf(md sessionstore.Metadata, other string) string {
	return cmp.Or(strings.TrimSpace(md.Text("manifest_name")), strings.TrimSpace(md.Text("name")), other)
}

func kindOf(md sessionstore.Metadata, id string) string {
	switch _, forked := md.Lookup("forked_from_turn"); {
	case forked:
		return "fork"
	case !sessionstore.IsTopLevel(id):
		return "sub-session"
	}
	return ""
}

// functions are the functions that the pages call.
var functions = template.FuncMap{
	"clock":   clock,
	"moment":  func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"kind":    classOf,
	"path":    pathOf,
	"next":    func(n int) int { return n + 1 },
	"count":   countText,
	"tail":    endOf,
	"dollars": Dollars,
	"dict":    func(a string, x any, b string, y any) map[string]any { return map[string]any{a: x, b: y} },
}

// shownEnd is the number of characters of a directory that fit the narrowest window.
const shownEnd = 36

// endOf returns the end of a long directory, which tells it apart from others.
func endOf(dir string) string {
	all := []rune(dir)
	if len(all) <= shownEnd {
		return dir
	}
	end := string(all[len(all)-shownEnd+1:])
	if at := strings.IndexAny(end, `/\`); at >= 0 {
		end = end[at:]
	}
	return "…" + end
}

// classOf makes a name for style sheets of a status.
func classOf(status string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r == '_' {
			return r
		}
		return '-'
	}, status)
}

// page answers with a page, which is whole or an error.
func (s *Server) page(w http.ResponseWriter, name string, data any) error {
	var out strings.Builder
	if err := s.pages.ExecuteTemplate(&out, name, data); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = showBidi.WriteString(w, out.String()) // the reader may be gone
	return nil
}

// clock returns a time as the pages show it.
func clock(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }
