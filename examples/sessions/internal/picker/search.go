package picker

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// maxExcerpts limits what a search shows of one session.
const maxExcerpts = 5

// search looks for a text as [projects.Projects.Search] does. It sends a [Found] message with
// all excerpts of a session as soon as another one is found there.
func (s store) search(ctx context.Context, gen int, text, project string, tell func(tea.Msg)) {
	found, failed := Found{Gen: gen}, error(nil)
	for h, err := range s.projects.Search(ctx, sessionstore.Sought{Text: text, Each: maxExcerpts}, projects.Query{Project: project}) {
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if k := (Key{h.Project, filepath.Base(h.Dir)}); k != found.Key {
			found.Key, found.Excerpts = k, nil
		}
		found.Excerpts = append(found.Excerpts, Excerpt{clean(h.Role), part(h.Before), part(h.Text), part(h.After)})
		tell(found)
	}
	tell(Found{Gen: gen, Done: true, Err: failed})
}

// part is clean for a piece of a text, which keeps the space at its ends.
func part(text string) string {
	text = clean("." + strings.ToValidUTF8(text, "") + ".")
	return text[1 : len(text)-1]
}
