package foreign

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"path/filepath"
	"slices"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// Usage yields the usage of the imported sessions that q describes, as their tools recorded
// it, by session and model; [projects.Projects.Usage] yields the usage of other sessions
// from their logs. All usage of a session has the time at which it began. A response
// counts once over all of these sessions, with the session that began first, of several with the
// one without a parent: also where the tool copied the response into another session, as Claude Code does when it forks, resumes
// or goes on in the background. If the copies have different numbers of tokens, the largest
// count. An error comes last; a session that could not be read hides no other one.
//
// [projects.Projects.Usage]: https://pkg.go.dev/github.com/amplifier-go/sessionstorage/sessionstore#Projects.Usage
func Usage(ctx context.Context, p *projects.Projects, q projects.Query) iter.Seq2[projects.Usage, error] {
	return func(yield func(projects.Usage, error) bool) {
		found, failed := p.Find(ctx, q)
		all, err := payersOf(ctx, p, found)
		failed = errors.Join(failed, err, countOnce(ctx, all))
		for _, f := range all {
			for _, model := range slices.Sorted(maps.Keys(f.state.Spent)) {
				if s := f.state.Spent[model]; s != nil && !yield(f.usage(model, s), nil) {
					return
				}
			}
		}
		if failed != nil {
			yield(projects.Usage{}, failed)
		}
	}
}

// payer is an imported session whose tool recorded its usage.
type payer struct {
	projects.Found
	st    *sessionstore.Store
	id    string
	place string // see target.place
	state state
	tool  thread.Tool // nil: none that is known
	child int         // 1 where it has a parent
}

// payersOf returns the imported sessions among the found ones. When both sides of a thread
// of Codex went on, it returns the session with the most responses.
func payersOf(ctx context.Context, p *projects.Projects, found []projects.Found) (all []*payer, failed error) {
	threads := map[string]*payer{}
	for _, f := range found {
		st, err := p.Store(f.Project)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		id := filepath.Base(f.Dir)
		md, err := st.Metadata(ctx, id)
		if err != nil {
			if !errors.Is(err, sessionstore.ErrNotFound) { // it was removed in between
				failed = errors.Join(failed, err)
			}
			continue
		}
		for _, place := range places {
			s := stateIn(md, place)
			it := &payer{f, st, id, place, s, programs[s.Tool], min(1, len(md.Text("parent_id")))}
			if it.state.Spent == nil {
				continue
			}
			if it.tool != nil && it.tool.Program().Totals { // its totals are of the whole thread
				if other := threads[place+it.state.ID]; other != nil {
					if it.responses() > other.responses() {
						*other = *it
					}
					continue
				}
				threads[place+it.state.ID] = it
			}
			all = append(all, it)
		}
	}
	return all, failed
}

// responses counts the responses of the session itself.
func (f *payer) responses() (n int) {
	for _, s := range f.state.Spent {
		if s != nil {
			n += s.Responses
		}
	}
	return n
}

// countOnce reduces the usage of each session to the responses that no earlier session has. Usage that is not known by response stays as it is.
func countOnce(ctx context.Context, all []*payer) (failed error) {
	type paid struct {
		by *payer
		thread.Used
	}
	first := map[uint64]paid{}
	began := func(a, b *payer) int { // a fork may have the times of its origin
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.child, b.child))
	}
	for _, f := range slices.SortedStableFunc(slices.Values(all), began) {
		if f.tool == nil || f.tool.Program().Totals {
			continue
		}
		some, err := mappedUse(ctx, filepath.Join(f.st.Dir(), f.id, f.place))
		failed = errors.Join(failed, err)
		if len(some) > 0 {
			f.state.Spent = map[string]*thread.Spending{}
		}
		for _, u := range some {
			before, known := first[u.ID]
			if !known {
				before = paid{f, u}
			}
			before.Usage.Most(u.Usage)
			first[u.ID] = before
		}
	}
	for _, p := range first {
		p.AddTo(p.by.state.Spent)
	}
	return failed
}

func (f *payer) usage(model string, s *thread.Spending) projects.Usage {
	return projects.Usage{Project: f.Project, Session: f.id, Usage: eventslog.Usage{
		Model: model, At: f.Created.UTC(), Responses: s.Responses, Exact: true,
		Input: s.Input + s.CacheRead, CacheRead: s.CacheRead, CacheWrite: s.CacheWrite, Output: s.Output,
	}}
}
