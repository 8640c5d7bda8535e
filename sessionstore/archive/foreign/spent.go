package foreign

import (
	"context"
	"errors"
	"iter"
	"maps"
	"path/filepath"
	"slices"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Usage tells what the imported sessions that q describes used in their tools, by
// session and model: what [sessionstore.Projects.Usage] tells of others by their logs.
// All of a session counts for the day on which it began. A response counts once over
// the session, its forks and its sub-agents. Where a file of Claude Code repeats lines
// that name another session, they count with that one, if the project has it. Lines
// that a copy gave the id of its own session are not recognised. An error comes last; what could not be
// read hides nothing else.
//
// [sessionstore.Projects.Usage]: https://pkg.go.dev/github.com/amplifier-go/sessionstorage/sessionstore#Projects.Usage
func Usage(ctx context.Context, p *sessionstore.Projects, q sessionstore.Query) iter.Seq2[sessionstore.Usage, error] {
	return func(yield func(sessionstore.Usage, error) bool) {
		found, failed := p.Find(ctx, q)
		for _, f := range found {
			spent, err := spentIn(ctx, p, f)
			if err != nil {
				failed = errors.Join(failed, err)
				continue
			}
			day := ""
			if created := f.Created; !created.IsZero() {
				if q.Days != nil {
					created = created.In(q.Days)
				}
				day = created.Format("2006-01-02")
			}
			for _, model := range slices.Sorted(maps.Keys(spent)) {
				s := spent[model]
				if s == nil {
					continue
				}
				u := eventslog.Usage{
					Model: model, Day: day, Responses: s.Responses, Exact: true,
					Input: s.Input + s.CacheRead, CacheRead: s.CacheRead, CacheWrite: s.CacheWrite, Output: s.Output,
				}
				if !yield(sessionstore.Usage{Project: f.Project, Session: filepath.Base(f.Dir), Usage: u}, nil) {
					return
				}
			}
		}
		if failed != nil {
			yield(sessionstore.Usage{}, failed)
		}
	}
}

func spentIn(ctx context.Context, p *sessionstore.Projects, f sessionstore.Found) (map[string]*spending, error) {
	st, err := p.Store(f.Project)
	if err != nil {
		return nil, err
	}
	md, err := st.Metadata(ctx, filepath.Base(f.Dir))
	if errors.Is(err, sessionstore.ErrNotFound) {
		return nil, nil // it was removed meanwhile
	}
	s := stateOf(md)
	all := s.Spent
	for id, copied := range s.Copied {
		if core.Of(st).Has(uuid5(Tool(s.Tool), id)) {
			continue // it counts there
		}
		for model, n := range copied {
			if n == nil {
				continue
			}
			if all == nil {
				all = map[string]*spending{}
			}
			if all[model] == nil {
				all[model] = &spending{}
			}
			all[model].Responses += n.Responses
			all[model].add(n.usage)
		}
	}
	return all, err
}
