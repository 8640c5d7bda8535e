package sessionstore

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// summariesOf implements core.Summaries, which is documented there, and lists the sessions
// of one store as those of a project without a name.
func summariesOf(ctx context.Context, slugs []string, store func(slug string) (st *Store, own bool, err error), o *ListOptions, yield func(string, Summary, error) bool) (err error) {
	all := &projectSummarizer{store: store, listed: map[string]*projectListing{}, open: map[string]*summarizer{}}
	defer func() { err = all.finish(ctx) }()
	for some := range slices.Chunk(slugs, maxStores) {
		if err := all.list(ctx, some, o); err != nil {
			yield("", Summary{}, wrap("summarize", "", err))
			return nil
		}
	}
	var failed, waiting, due []summarized
	shown, places := 0, all.ordered()
	for from, to := range portions(len(places), func() int { return o.ahead(shown) }) {
		for some := places[from:to]; len(some) > 0; {
			rows := all.summarize(ctx, some)
			if ctx.Err() != nil {
				break
			}
			for _, row := range rows {
				switch {
				case row.err != nil:
					failed = append(failed, row)
				case row.listed(o):
					waiting = append(waiting, row)
				}
			}
			some = some[len(rows):]
		}
		if err := ctx.Err(); err != nil {
			all.failed = append(all.failed, summarized{err: err})
			break
		}
		var since time.Time
		if to < len(places) {
			since = places[to].changed
		}
		due, waiting = changedSince(waiting, since)
		for _, s := range due {
			if o.reached(shown) {
				break
			}
			if shown++; !yield(s.project, s.Summary, nil) {
				return nil
			}
		}
	}
	for _, f := range append(failed, all.failed...) {
		if !yield(f.project, f.Summary, wrap("summarize", f.ID, f.err)) {
			return nil
		}
	}
	return nil
}

// projectSummarizer summarizes the sessions of several projects.
type projectSummarizer struct {
	store  func(slug string) (st *Store, own bool, err error) // the caller's open store, or a new one for this listing
	places []*place
	listed map[string]*projectListing
	open   map[string]*summarizer
	own    []*Store     // the stores opened for this listing
	failed []summarized // projects that cannot be read
}

// projectListing is the sessions of one project.
type projectListing struct {
	at         time.Time // before they were listed
	places     []place
	summarized []bool // by the numbers of places
}

// maxStores is the most projects that are open at once.
const maxStores = 32

// list notes the sessions of some projects, of maxStores at most, which it reads at the
// same time, and the projects that cannot be read.
func (a *projectSummarizer) list(ctx context.Context, slugs []string, o *ListOptions) error {
	if len(a.open)+len(slugs) > maxStores { // none of these is to be closed before it is read
		if err := a.close(ctx); err != nil {
			return err
		}
	}
	by := map[string]*summarizer{}
	for _, slug := range slugs {
		z, err := a.summarizer(ctx, slug)
		if errors.Is(err, ErrClosed) || ctx.Err() != nil {
			return cmp.Or(ctx.Err(), err)
		}
		if err != nil {
			a.failed = append(a.failed, summarized{project: slug, err: err})
			continue
		}
		by[slug] = z
	}
	found, errs := make([][]place, len(slugs)), make([]error, len(slugs))
	spread(len(slugs), func(next func() (int, bool)) {
		for i, ok := next(); ok; i, ok = next() {
			if z := by[slugs[i]]; z != nil {
				found[i], errs[i] = z.places(o)
			}
		}
	})
	for i, slug := range slugs {
		if errs[i] != nil {
			a.failed = append(a.failed, summarized{project: slug, err: errs[i]})
		} else if z := by[slug]; z != nil {
			a.note(slug, z, found[i])
		}
	}
	return nil
}

// note adds the sessions of a project.
func (a *projectSummarizer) note(slug string, z *summarizer, places []place) {
	a.listed[slug] = &projectListing{z.at, places, z.summarized}
	a.places = slices.Grow(a.places, len(places))
	for i := range places {
		places[i].project = slug
		a.places = append(a.places, &places[i])
	}
}

// ordered returns the sessions of all projects, newest first.
func (a *projectSummarizer) ordered() []*place {
	slices.SortStableFunc(a.places, func(x, y *place) int { return cmp.Compare(seconds(y.changed), seconds(x.changed)) })
	return a.places
}

// summarize summarizes the first of some sessions, as many as belong to projects that may
// be open at once.
func (a *projectSummarizer) summarize(ctx context.Context, some []*place) []summarized {
	var by []*summarizer
	rows := make([]summarized, len(some))
	for i, p := range some {
		if i > 0 && a.open[p.project] == nil && len(a.open) == maxStores {
			break
		}
		z, err := a.summarizer(ctx, p.project)
		if err != nil && !errors.Is(err, ErrNotFound) { // else the project was removed just now
			rows[i] = p.failed(err)
		}
		by = append(by, z)
	}
	rows = rows[:len(by)]
	spread(len(rows), func(next func() (int, bool)) {
		for i, ok := next(); ok; i, ok = next() {
			if by[i] != nil {
				rows[i] = by[i].next(ctx, some[i])
				by[i].summarized[some[i].number] = rows[i].err == nil
			}
		}
	})
	return rows
}

// summarizer returns the summarizer of a project.
func (a *projectSummarizer) summarizer(ctx context.Context, slug string) (*summarizer, error) {
	if z := a.open[slug]; z != nil {
		return z, nil
	}
	if len(a.open) == maxStores {
		if err := a.close(ctx); err != nil {
			return nil, err
		}
	}
	st, own, err := a.store(slug)
	if err != nil {
		return nil, err
	}
	if own {
		a.own = append(a.own, st)
	}
	if err := st.admit(ctx); err != nil {
		return nil, err
	}
	z := newSummarizer(st)
	if l := a.listed[slug]; l != nil {
		z.at, z.summarized = l.at, l.summarized
	}
	a.open[slug] = z
	return z, nil
}

// finish brings the index of all projects up to date, and closes them. Sessions that are
// gone are removed from the index, whatever the listing.
func (a *projectSummarizer) finish(ctx context.Context) (err error) {
	for slug, z := range a.open {
		a.sweep(ctx, slug, z)
	}
	for slug := range a.listed {
		if ctx.Err() != nil {
			break
		}
		z, failed := a.summarizer(ctx, slug)
		if failed == nil {
			a.sweep(ctx, slug, z)
		}
		if !errors.Is(failed, ErrNotFound) { // the project was removed
			err = joinErrors(err, failed)
		}
	}
	return joinErrors(err, a.close(ctx))
}

// sweep writes the index of a project according to its listing.
func (a *projectSummarizer) sweep(ctx context.Context, slug string, z *summarizer) {
	if l := a.listed[slug]; l != nil {
		z.write(ctx, l.places)
		delete(a.listed, slug)
	}
}

// close writes the index of the open projects, according to the listing where all their
// sessions were summarized, and closes the projects.
func (a *projectSummarizer) close(ctx context.Context) (err error) {
	var open []*summarizer
	var listed [][]place
	for slug, z := range a.open {
		var places []place
		if l := a.listed[slug]; l != nil && !slices.Contains(l.summarized, false) {
			places = l.places
			delete(a.listed, slug)
		}
		open, listed = append(open, z), append(listed, places)
	}
	spread(len(open), func(next func() (int, bool)) {
		for i, ok := next(); ok; i, ok = next() {
			open[i].write(ctx, listed[i])
			open[i].st.calls.Done()
		}
	})
	for _, st := range a.own {
		err = joinErrors(err, st.Close())
	}
	clear(a.open)
	a.own = nil
	return err
}

// spread runs worker on all processors; next hands out the numbers below n.
func spread(n int, worker func(next func() (int, bool))) {
	var (
		taken atomic.Int64
		group sync.WaitGroup
	)
	next := func() (int, bool) {
		i := int(taken.Add(1)) - 1
		return i, i < n
	}
	for range min(n, runtime.GOMAXPROCS(0)) - 1 {
		group.Go(func() { worker(next) })
	}
	worker(next)
	group.Wait()
}

// maxAhead is the number of items of a list that are worked on before the first of them
// is returned.
const maxAhead = 256

// portions divides n items into portions that are worked on together: one, two, four and
// so on, so that a caller that wants the first does not wait for many. A portion is no
// larger than the result of most at that time. There are no more portions once that is 0.
func portions(n int, most func() int) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		for from, size := 0, 1; from < n; size = min(2*size, maxAhead) {
			to := min(n, from+min(size, most()))
			if to <= from {
				return
			}
			if !yield(from, to) {
				return
			}
			from = to
		}
	}
}
