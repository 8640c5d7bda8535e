package picker

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// maxExcerpts limits what a search shows of one session.
const maxExcerpts = 5

// search looks for a text as [projects.Projects.Search] does. It sends a [Found] event with
// all excerpts of a session as soon as another one is found there.
func (s store) search(ctx context.Context, c Search, tell func(Event)) {
	found, failed := Found{Gen: c.Gen}, error(nil)
	for h, err := range s.projects.Search(ctx, sessionstore.Sought{Text: c.Text, Each: maxExcerpts}, projects.Query{Project: c.In}) {
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
	tell(Found{Gen: c.Gen, Done: true, Err: failed})
}

// part is clean for a piece of a text, which keeps the space at its ends.
func part(text string) string {
	text = clean("." + strings.ToValidUTF8(text, "") + ".")
	return text[1 : len(text)-1]
}
