package foreign

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Usage tells what the imported sessions that q describes used in their tools, by
// session and model: what [sessionstore.Projects.Usage] tells of others by their logs.
// All of a session counts for the day on which it began. A response counts once over
// the session, its forks and its sub-agents. Where a file of Claude Code repeats lines
// of another session and names it, they count with that one, if the project has it. Of
// files that begin at the same instant, as copies do, each response counts once; their
// originals are read for that. An error comes last; what could not be read hides nothing
// else.
//
// [sessionstore.Projects.Usage]: https://pkg.go.dev/github.com/amplifier-go/sessionstorage/sessionstore#Projects.Usage
func Usage(ctx context.Context, p *sessionstore.Projects, q sessionstore.Query) iter.Seq2[sessionstore.Usage, error] {
	return func(yield func(sessionstore.Usage, error) bool) {
		found, failed := p.Find(ctx, q)
		all, err := payersOf(ctx, p, found)
		failed = errors.Join(failed, err)
		for _, f := range all {
			spent, err := f.spent(ctx)
			if err != nil {
				failed = errors.Join(failed, err)
				continue
			}
			for _, model := range slices.Sorted(maps.Keys(spent)) {
				if s := spent[model]; s != nil && !yield(f.usage(model, s, q), nil) {
					return
				}
			}
		}
		if failed != nil {
			yield(sessionstore.Usage{}, failed)
		}
	}
}

// payer is an imported session of which the tool tells what it used.
type payer struct {
	sessionstore.Found
	st    *sessionstore.Store
	id    string
	state state
	seen  map[string]bool // responses of this session and its copies that were counted; nil where it has none
}

// payersOf returns the imported sessions among those that were found.
func payersOf(ctx context.Context, p *sessionstore.Projects, found []sessionstore.Found) (all []*payer, failed error) {
	first := map[string]*payer{} // of those that began at one instant
	for _, f := range found {
		st, err := p.Store(f.Project)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		id := filepath.Base(f.Dir)
		md, err := st.Metadata(ctx, id)
		if err != nil {
			if !errors.Is(err, sessionstore.ErrNotFound) { // it was removed meanwhile
				failed = errors.Join(failed, err)
			}
			continue
		}
		it := &payer{Found: f, st: st, id: id, state: stateOf(md)}
		if it.state.Spent == nil && it.state.Copied == nil {
			continue
		}
		if strings.Contains(id, "_") { // a sub-agent
			all = append(all, it)
			continue
		}
		key := f.Project + "\x00" + f.CreatedText
		if it.state.Tool == string(Codex) {
			key = f.Project + "\x00" + it.state.ID
		}
		other := first[key]
		if other == nil {
			first[key], all = it, append(all, it)
			continue
		}
		if it.state.Tool == string(Codex) { // both sides of it went on: one of them has all
			if it.responses() > other.responses() {
				*other = *it
			}
			continue
		}
		if other.seen == nil {
			other.seen = map[string]bool{}
		}
		it.seen = other.seen
		all = append(all, it)
	}
	return all, failed
}

// responses counts those that the session has itself.
func (f *payer) responses() (n int) {
	for _, s := range f.state.Spent {
		if s != nil {
			n += s.Responses
		}
	}
	return n
}

// spent returns what the session used, by model.
func (f *payer) spent(ctx context.Context) (map[string]*spending, error) {
	if f.seen != nil {
		if h, leave := openOriginal(ctx, f.st, f.id, Claude, f.state); h != nil {
			defer leave()
			return f.unseen(h)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	all := f.state.Spent
	for id, copied := range f.state.Copied {
		if f.elsewhere(id) {
			continue
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
	return all, nil
}

// elsewhere reports whether what names the tool's session id counts there.
func (f *payer) elsewhere(id string) bool {
	return core.Of(f.st).Has(uuid5(Tool(f.state.Tool), id))
}

// unseen returns what the responses of the file used that no copy of it has told yet.
func (f *payer) unseen(h *history) (map[string]*spending, error) {
	all, top, in := map[string]*spending{}, h.top(""), newInput(h.file, h.size)
	inOrder := slices.SortedFunc(slices.Values(h.t.facts.spent), func(a, b spent) int { return cmp.Compare(a.at, b.at) })
	for _, r := range inOrder {
		if !top.mine(r.at) || r.has == 0 {
			continue
		}
		if id := top.namedSession(r); id != "" && f.elsewhere(id) {
			continue
		}
		raw, err := in.line(h.t.records.at(r.at).offset)
		if err != nil {
			return nil, err
		}
		if id := responseID(raw); !f.seen[id] {
			f.seen[id] = true
			h.t.facts.count(all, r)
		}
	}
	return all, nil
}

// responseID returns what a copy of a response has, too: the ids of the response and of
// its request, or else the id of the line.
func responseID(raw []byte) string {
	m := members(raw, "message", "requestId", "uuid")
	id, request := text(members(m[0], "id")[0]), text(m[1])
	if id == "" || request == "" {
		return text(m[2])
	}
	return id + "\x00" + request
}

func (f *payer) usage(model string, s *spending, q sessionstore.Query) sessionstore.Usage {
	day := ""
	if created := f.Created; !created.IsZero() {
		if q.Days != nil {
			created = created.In(q.Days)
		}
		day = created.Format("2006-01-02")
	}
	return sessionstore.Usage{Project: f.Project, Session: f.id, Usage: eventslog.Usage{
		Model: model, Day: day, Responses: s.Responses, Exact: true,
		Input: s.Input + s.CacheRead, CacheRead: s.CacheRead, CacheWrite: s.CacheWrite, Output: s.Output,
	}}
}
