package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"regexp"
	"time"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/examples/viewer/excerpt"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// What one search shows at most.
const (
	maxFound = 50  // sessions
	maxEach  = 3   // messages of one of them
	maxHits  = 500 // messages of the session that is searched alone
	maxQuery = 500 // bytes of the text to find
	around   = 80  // bytes of the text before and after what was found
)

// hit is a message in which the text was found.
type hit struct {
	N      int    `json:"n"` // index of the message
	Role   string `json:"role"`
	Before string `json:"before"`
	Text   string `json:"text"`
	After  string `json:"after"`
}

// foundSession is a session in which the text was found.
type foundSession struct {
	Project, Title, Path string
	Created              time.Time // zero: unknown
	Hits                 []hit
}

// textPattern returns what finds a text in upper or lower case.
func textPattern(text string) (*regexp.Regexp, error) {
	if text == "" || len(text) > maxQuery || !utf8.ValidString(text) {
		return nil, errRequest("the text to find is empty, too long or no text")
	}
	return regexp.Compile("(?i)" + regexp.QuoteMeta(text))
}

// hitIn looks into what a person or a model wrote, not into results of tools.
func hitIn(m sessionstore.Message, n int, pattern *regexp.Regexp) (hit, bool) {
	if m.Role() == "tool" {
		return hit{}, false
	}
	text := m.Content()
	at := pattern.FindStringIndex(text)
	if at == nil {
		return hit{}, false
	}
	h := hit{N: n, Role: m.Role()}
	h.Before, h.Text, h.After = excerpt.Of(text, at[0], at[1], around)
	return h, true
}

// search shows the sessions of a project, or of all, in which a text stands.
func (s *Server) search(w http.ResponseWriter, r *request) error {
	data := map[string]any{"Title": "Search", "Query": r.URL.Query().Get("q"), "Path": "/", "Action": "/search"}
	project := ""
	if r.at != nil {
		project = r.at.name
		data["All"] = s.places.projects != nil
		data["Project"], data["Path"], data["Action"] = project, pathOf(project, ""), pathOf(project, "")+"/search"
	}
	if data["Query"] != "" {
		pattern, err := textPattern(r.URL.Query().Get("q"))
		if err != nil {
			return err
		}
		if err := s.searching(r.Context()); err != nil {
			return err
		}
		defer func() { <-s.searches }()
		found, err := s.places.search(r.Context(), project, r.URL.Query().Get("q"), pattern)
		if r.Context().Err() != nil {
			return r.Context().Err()
		}
		if err != nil && !errors.Is(err, sessionstore.ErrCorrupt) {
			return err
		}
		data["Found"], data["Searched"], data["Full"], data["Damaged"] = found, true, len(found) == maxFound, err != nil
	}
	return s.page(w, "search.html", data)
}

// searching waits until nothing else reads all sessions.
func (s *Server) searching(ctx context.Context) error {
	select {
	case s.searches <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// search looks through a project; "" are all. With an error that Is
// [sessionstore.ErrCorrupt] it returns what it found beside.
func (p *Places) search(ctx context.Context, project, text string, pattern *regexp.Regexp) ([]foundSession, error) {
	if p.projects == nil {
		return p.searchOne(ctx, pattern)
	}
	keyword, err := sessionstore.StoredText(text)
	if err != nil {
		return nil, errRequest(err.Error())
	}
	hits := map[string][]hit{} // by directory
	all, err := p.projects.Find(ctx, sessionstore.Query{Project: project, Keyword: keyword, Limit: maxFound, Match: func(ctx context.Context, st *sessionstore.Store, id string) (bool, error) {
		found, err := hitsIn(ctx, st, id, pattern)
		if len(found) > 0 {
			hits[filepath.Join(st.Dir(), id)] = found
		}
		return len(found) > 0, err
	}})
	var out []foundSession
	for _, f := range all {
		at, err := p.place(ctx, f.Project)
		if err != nil {
			return nil, err
		}
		out = append(out, at.found(ctx, filepath.Base(f.Dir), f.Created, hits[f.Dir]))
	}
	return out, err
}

// searchOne looks through the one sessions directory.
func (p *Places) searchOne(ctx context.Context, pattern *regexp.Regexp) (out []foundSession, damage error) {
	names, err := p.names(ctx)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	at, err := p.place(ctx, names[0])
	if err != nil {
		return nil, err
	}
	infos, err := at.store.List(ctx, &sessionstore.ListOptions{All: true})
	if err != nil {
		return nil, err
	}
	for _, info := range infos {
		if len(out) == maxFound {
			break
		}
		hits, err := hitsIn(ctx, at.store, info.ID, pattern)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil && !errors.Is(err, sessionstore.ErrNotFound) { // one that is removed just now
			damage = errors.Join(damage, err)
		}
		if len(hits) > 0 {
			out = append(out, at.found(ctx, info.ID, info.Modified, hits))
		}
	}
	return out, damage
}

// found returns a session as the page shows it.
func (p *place) found(ctx context.Context, id string, at time.Time, hits []hit) foundSession {
	f := foundSession{Project: p.name, Title: id, Path: pathOf(p.name, id), Created: at, Hits: hits}
	if s, err := p.store.Summary(ctx, id); err == nil {
		if it, err := p.item(ctx, s); err == nil {
			f.Title = cmp.Or(it.Title, id)
		}
	}
	return f
}

// hitsIn returns the first messages of a session in which the pattern is found.
func hitsIn(ctx context.Context, st *sessionstore.Store, id string, pattern *regexp.Regexp) (found []hit, err error) {
	n := 0
	for m, err := range st.Messages(ctx, id) {
		if err != nil {
			return found, err
		}
		if h, ok := hitIn(m, n, pattern); ok {
			if found = append(found, h); len(found) == maxEach {
				return found, nil
			}
		}
		n++
	}
	return found, nil
}
