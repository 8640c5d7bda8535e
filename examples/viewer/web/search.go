package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/examples/viewer/excerpt"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Limits of a search.
const (
	maxFound = 50  // sessions
	maxEach  = 3   // messages of a session
	maxHits  = 500 // messages of the session that is searched alone
	maxQuery = 500 // bytes of the text to find
	around   = 80  // bytes of the text before and after a match
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
	Dir, Title, Path string
	Created          time.Time // zero: unknown
	Hits             []hit
}

// textPattern returns the expression that finds a text in upper or lower case.
func textPattern(text string) (*regexp.Regexp, error) {
	if text == "" || len(text) > maxQuery || !utf8.ValidString(text) {
		return nil, errRequest("the text to find is empty, too long or no text")
	}
	return regexp.Compile("(?i)" + regexp.QuoteMeta(text))
}

// hitIn looks for a text in the message of a person or a model, not in results of tools.
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

// search shows the sessions of a project, or of all, that hold a text.
func (s *Server) search(w http.ResponseWriter, r *request) error {
	data := map[string]any{"Title": "Search", "Query": r.URL.Query().Get("q"), "Path": "/", "Action": "/search"}
	project := ""
	if r.at != nil {
		project = r.at.name
		data["All"] = s.places.projects != nil
		data["Dir"], data["Path"], data["Action"] = s.places.dir(r.Context(), project), pathOf(project, ""), pathOf(project, "")+"/search"
	}
	if data["Query"] != "" {
		if _, err := textPattern(r.URL.Query().Get("q")); err != nil {
			return err
		}
		if err := s.searching(r.Context()); err != nil {
			return err
		}
		defer func() { <-s.searches }()
		found, err := s.places.search(r.Context(), project, r.URL.Query().Get("q"))
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

// search looks through a project; "" means all. With an error that Is
// [sessionstore.ErrCorrupt] it returns the sessions that it found, too.
func (p *Places) search(ctx context.Context, project, text string) (out []foundSession, damage error) {
	sought := sessionstore.Sought{Text: text, Each: maxEach}
	if p.projects == nil {
		return p.searchOne(ctx, sought)
	}
	q := projects.Query{Project: project, Limit: maxFound}
	hits := p.projects.Search(ctx, sought, q)
	if path, ok := strings.CutPrefix(text, "file:"); ok {
		hits = p.projects.Files(ctx, path, q)
	}
	last := "" // directory of the last session in out
	for h, err := range hits {
		if err != nil {
			damage = errors.Join(damage, err)
			continue
		}
		if h.Dir != last {
			at, err := p.place(ctx, h.Project)
			if err != nil {
				return nil, err
			}
			out, last = append(out, at.found(ctx, p.dir(ctx, h.Project), filepath.Base(h.Dir), h.Created)), h.Dir
		}
		if h.Guess {
			h.Before = "? "
		}
		if f := &out[len(out)-1]; len(f.Hits) < maxEach {
			f.Hits = append(f.Hits, shownHit(h.Hit))
		}
	}
	return out, damage
}

// searchOne looks through the one sessions directory.
func (p *Places) searchOne(ctx context.Context, sought sessionstore.Sought) (out []foundSession, damage error) {
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
		var hits []hit
		for h, err := range at.store.Search(ctx, info.ID, sought) {
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case err == nil:
				hits = append(hits, shownHit(h))
			case !errors.Is(err, sessionstore.ErrNotFound): // the session was removed just now
				damage = errors.Join(damage, err)
			}
		}
		if len(hits) > 0 {
			f := at.found(ctx, p.dir(ctx, at.name), info.ID, info.Modified)
			f.Hits = hits
			out = append(out, f)
		}
	}
	return out, damage
}

// shownHit returns a hit as the pages have it, which number messages from 0.
func shownHit(h sessionstore.Hit) hit {
	return hit{N: h.Message - 1, Role: h.Role, Before: h.Before, Text: h.Text, After: h.After}
}

// found returns a session as the page shows it.
func (p *place) found(ctx context.Context, dir, id string, at time.Time) foundSession {
	f := foundSession{Dir: dir, Title: id, Path: pathOf(p.name, id), Created: at}
	if s, err := p.store.Summary(ctx, id); err == nil {
		if it, err := p.item(ctx, s); err == nil {
			f.Title = cmp.Or(it.Title, id)
		}
	}
	return f
}
