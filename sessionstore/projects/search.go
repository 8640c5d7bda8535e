package projects

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Hit is a message with a match of [Projects.Search].
type Hit struct {
	Found // the session
	sessionstore.Hit
}

// Search yields the messages that match sought, in the sessions that q describes: the
// messages of one session in their order, and the sessions in the order of
// [Projects.Find]. q.Limit counts the sessions with a match. Most transcripts without a
// Text, or without q.Keyword, are skipped without being parsed.
//
// An unreadable session or project hides no other. After all others comes one row with an
// error for each session, and for each project, that could not be read, which has only
// Project and ID. An error without either comes last.
func (p *Projects) Search(ctx context.Context, sought sessionstore.Sought, q Query) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		if q.Keyword == "" && sought.Regexp == nil && sought.Text != "" {
			var err error
			if q.Keyword, err = storedText(sought.Text); err != nil {
				yield(Hit{}, wrap("search", "", err))
				return
			}
		}
		if err := alive(ctx); err != nil {
			yield(Hit{}, wrap("search", "", err))
			return
		}
		within, stop := context.WithCancel(ctx)
		defer stop()
		more := true
		s := &search{projects: p, query: q, hits: func(ctx context.Context, st *sessionstore.Store, c *candidate) (found bool, err error) {
			for h, err := range st.Search(ctx, c.name, sought) {
				if err != nil {
					return found, err
				}
				found = true
				if more = yield(Hit{c.Found, h}, nil); !more {
					stop()
					return found, nil
				}
			}
			return found, nil
		}}
		_, err := s.run(within)
		if !more {
			return
		}
		for _, f := range s.failed {
			if !yield(Hit{Found: Found{Project: f.project, ID: f.id}}, f.err) {
				return
			}
		}
		if err != nil {
			yield(Hit{}, wrap("search", "", err))
		}
	}
}

// storedText returns text as it is in a string of a transcript, without its quotes. It
// fails when a message could not hold the text.
func storedText(text string) (string, error) {
	m, err := sessionstore.Text("user", text, time.Time{})
	if err != nil {
		return "", err
	}
	raw, _ := m.Lookup("content")
	return strings.TrimSuffix(strings.TrimPrefix(string(raw), `"`), `"`), nil
}
