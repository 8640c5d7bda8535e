package foreign

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Usage tells what the imported sessions that q describes used in their tools, by
// session and model: what [sessionstore.Projects.Usage] tells of others by their logs.
// All of a session counts for the day on which it began. A response counts once over all
// of these sessions, with the one that began first: also where the tool copied it into
// another session, as Claude Code does when it forks, resumes or goes on in the
// background. Of copies that tell other numbers of tokens, the largest count. An error
// comes last; what could not be read hides nothing else.
//
// [sessionstore.Projects.Usage]: https://pkg.go.dev/github.com/amplifier-go/sessionstorage/sessionstore#Projects.Usage
func Usage(ctx context.Context, p *sessionstore.Projects, q sessionstore.Query) iter.Seq2[sessionstore.Usage, error] {
	return func(yield func(sessionstore.Usage, error) bool) {
		found, failed := p.Find(ctx, q)
		all, err := payersOf(ctx, p, found)
		failed = errors.Join(failed, err, countOnce(ctx, all))
		for _, f := range all {
			for _, model := range slices.Sorted(maps.Keys(f.state.Spent)) {
				if s := f.state.Spent[model]; s != nil && !yield(f.usage(model, s, q), nil) {
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
	place string // see target.place
	state state
}

// payersOf returns the imported sessions among those that were found. Of those of one
// thread of Codex, of which both sides went on, it returns the one that has most.
func payersOf(ctx context.Context, p *sessionstore.Projects, found []sessionstore.Found) (all []*payer, failed error) {
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
			if !errors.Is(err, sessionstore.ErrNotFound) { // it was removed meanwhile
				failed = errors.Join(failed, err)
			}
			continue
		}
		for _, place := range places {
			it := &payer{f, st, id, place, stateIn(md, place)}
			if it.state.Spent == nil {
				continue
			}
			if it.state.Tool == string(Codex) {
				if other := threads[it.state.ID]; other != nil {
					if it.responses() > other.responses() {
						*other = *it
					}
					continue
				}
				threads[it.state.ID] = it
			}
			all = append(all, it)
		}
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

// countOnce makes of what the sessions of Claude Code used what they used before all
// others. What is not known by response stays as it is.
func countOnce(ctx context.Context, all []*payer) (failed error) {
	type paid struct {
		by *payer
		used
	}
	first := map[uint64]paid{}
	began := func(a, b *payer) int { return a.Created.Compare(b.Created) }
	for _, f := range slices.SortedStableFunc(slices.Values(all), began) {
		some, err := f.used(ctx)
		failed = errors.Join(failed, err)
		if len(some) > 0 {
			f.state.Spent = map[string]*spending{}
		}
		for _, u := range some {
			before, known := first[u.id]
			if !known {
				before = paid{f, u}
			}
			for i, n := range u.tokens {
				before.tokens[i] = max(before.tokens[i], n)
			}
			first[u.id] = before
		}
	}
	for _, p := range first {
		p.addTo(p.by.state.Spent)
	}
	return failed
}

// used returns what each response of a session of Claude Code used, as its map tells, or
// for one that an older import made the file that it kept. There is none where neither does.
func (f *payer) used(ctx context.Context) (found []used, err error) {
	if f.state.Tool != string(Claude) {
		return nil, nil
	}
	file, _, err := openRegular(filepath.Join(f.st.Dir(), f.id, f.place, mapFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	models := map[string]string{}
	for in := newLineReader(contextReader{ctx, file}); ; {
		l, err := in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if u, ok := usedIn(l.bytes, models); ok {
			found = append(found, u)
		}
	}
	if len(found) > 0 || f.state.Rules == rules {
		return found, nil
	}
	h, leave := openOriginal(ctx, f.st, f.id, Claude, f.state, f.place)
	if h == nil {
		return nil, ctx.Err()
	}
	defer leave()
	top := h.top("")
	if strings.Contains(f.id, "_") { // a sub-agent
		top.mine = all
	}
	return slices.Collect(top.responses()), nil
}

// usedIn returns what a row of a map tells of a response.
func usedIn(row []byte, models map[string]string) (u used, ok bool) {
	if !bytes.HasPrefix(row, []byte(`{"response"`)) || pyjson.Check(row, pyjson.Tolerant) != nil {
		return u, false
	}
	m := members(row, "response", "model", "tokens")
	var err error
	if u.id, err = strconv.ParseUint(text(m[0]), 16, 64); err != nil {
		return u, false
	}
	if u.model, ok = models[text(m[1])]; !ok { // one text for all
		u.model = text(m[1])
		models[u.model] = u.model
	}
	i := 0
	for n := range pyjson.Elements(m[2]) {
		if i < len(u.tokens) {
			u.tokens[i] = tokens(n)
		}
		i++
	}
	return u, true
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
