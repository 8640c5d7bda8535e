package web

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// maxRecent limits the sessions of the first page.
const maxRecent = 8

// recent is a session that changed lately.
type recent struct {
	Title, Path, Dir string
	Prompts          int
	Changed          time.Time
}

// start shows the projects and the sessions that changed last, or the only project.
func (s *Server) start(w http.ResponseWriter, r *request) error {
	names, err := s.places.names(r.Context())
	if err != nil {
		return err
	}
	if len(names) == 1 {
		http.Redirect(w, r.Request, pathOf(names[0], ""), http.StatusSeeOther)
		return nil
	}
	links, last, err := s.places.overview(r.Context(), names)
	if err != nil {
		return err
	}
	return s.page(w, "projects.html", map[string]any{"Title": "Sessions", "Projects": links, "Recent": last})
}

// overview reads the lists of all projects. What cannot be read hides nothing else.
func (p *Places) overview(ctx context.Context, names []string) (links []projectLink, last []recent, err error) {
	links = p.linksTo(ctx, names, "")
	at := map[string]*projectLink{}
	for i := range links {
		at[links[i].Name] = &links[i]
	}
	for row, err := range p.projects.Summaries(ctx, &sessionstore.ListOptions{}) {
		link := at[row.Project]
		switch {
		case link == nil && err != nil && row.Project == "":
			return nil, nil, err
		case link == nil: // it came just now
		case err != nil && row.ID == "":
			link.Reason = err.Error()
		case err != nil:
			link.Failed++
		default:
			link.Sessions++
			if len(last) < maxRecent {
				last = append(last, recent{cmp.Or(row.Title, row.ID), pathOf(row.Project, row.ID), link.Dir, row.Prompts, row.Changed})
			}
		}
	}
	return links, last, nil
}
