package sessionstore

import (
	"context"
	"errors"
	"io/fs"
	"iter"

	"github.com/amplifier-go/sessionstorage/internal/index"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// Summaries tells what the sessions are, in the order of [Store.List]. The first
// row is there before any other session is looked at; later rows are made some
// hundred in advance, on all processors. A session that is removed meanwhile is
// left out. The error comes last.
//
// On local file systems of Linux, Summaries keeps what it read in an index in
// the sessions directory, for the owner alone, and the next Summaries, of any
// process, reads only what has changed. The call that removes a session removes
// what the index has of it; if another tool removed the session, the next
// Summaries does. Where the index cannot be written, Summaries reads everything
// each time.
func (st *Store) Summaries(ctx context.Context, o *ListOptions) iter.Seq2[Summary, error] {
	return func(yield func(Summary, error) bool) {
		if err := st.begin(ctx); err != nil {
			yield(Summary{}, wrap("summarize", "", err))
			return
		}
		defer st.done()
		z := newSummarizer(st)
		places, err := z.places(o)
		if err != nil {
			yield(Summary{}, wrap("summarize", "", err))
			return
		}
		defer func() { z.write(ctx, places) }()
		shown := 0
		wanted := firstOf(places, o)
		for from, to := range portions(len(wanted)) {
			rows := make([]summarized, to-from)
			spread(len(rows), func(next func() (int, bool)) {
				for i, ok := next(); ok; i, ok = next() {
					rows[i] = z.next(ctx, wanted[from+i])
					z.summarized[from+i] = rows[i].err == nil
				}
			})
			for i, row := range rows {
				if row.err != nil {
					yield(Summary{}, wrap("summarize", wanted[from+i].id, row.err))
					return
				}
				if !row.listed(o) {
					continue
				}
				if shown++; !yield(row.Summary, nil) || o != nil && shown == o.Limit {
					return
				}
			}
		}
	}
}

// summarized is a session of a listing that was summarized.
type summarized struct {
	Summary
	found bool // false: it is gone, or has a name that no session may have
	err   error
}

// listed reports whether the session is in a listing of o.
func (s *summarized) listed(o *ListOptions) bool {
	return s.found && (o == nil || !o.NoInternal || !s.Internal)
}

// Summary tells what a session is. See [Store.Summaries].
func (st *Store) Summary(ctx context.Context, id string) (Summary, error) {
	s, err := st.summary(ctx, id)
	return s, wrap("summarize", id, err)
}

func (st *Store) summary(ctx context.Context, id string) (Summary, error) {
	if err := checkID(id); err != nil {
		return Summary{}, err
	}
	if err := st.begin(ctx); err != nil {
		return Summary{}, err
	}
	defer st.done()
	if !st.base.Has(id) {
		return Summary{}, notFound(id)
	}
	z := newSummarizer(st)
	is, plain, err := z.stat(id, ".")
	if err != nil {
		return Summary{}, err
	}
	p := place{id: id, changed: is.Mtime}
	if plain {
		p.dir = is
	}
	s, err := z.summarize(ctx, p)
	if err != nil {
		return Summary{}, err
	}
	z.write(ctx, nil)
	return s, nil
}

// firstOf returns as many of places as o wants, or all of them where it has to be
// found out which of them count.
func firstOf[T any](places []T, o *ListOptions) []T {
	if o != nil && !o.NoInternal && o.Limit > 0 && o.Limit < len(places) {
		return places[:o.Limit]
	}
	return places
}

// places returns the sessions in the order of a listing.
func (z *summarizer) places(o *ListOptions) ([]place, error) {
	all := o != nil && o.All
	entries, err := z.st.base.Entries(func(id string) bool { return all || IsTopLevel(id) })
	if err != nil {
		return nil, err
	}
	places := make([]place, len(entries))
	for i, n := range listOrder(entries) {
		e := &entries[n]
		places[i] = place{id: e.Name, number: i, changed: e.Modified}
		if !e.Symlink {
			places[i].dir = e.Stamp
		}
	}
	z.summarized = make([]bool, len(places))
	return places, nil
}

// next summarizes a session of a listing.
func (z *summarizer) next(ctx context.Context, p place) summarized {
	if err := ctx.Err(); err != nil {
		return summarized{err: err}
	}
	if checkID(p.id) != nil {
		return summarized{}
	}
	s, err := z.summarize(ctx, p)
	if errors.Is(err, ErrNotFound) && !z.st.base.Has(p.id) {
		return summarized{}
	}
	return summarized{s, err == nil, err}
}

// write brings the index up to date. With a listing, it also takes out the
// sessions that are gone, and those that were not summarized and have changed:
// another one may have their id by now. What cannot be written is read again next
// time.
func (z *summarizer) write(ctx context.Context, listed []place) {
	changes := index.Changes{Put: z.put, Stale: z.stale}
	z.put, z.stale = nil, nil
	var err error
	if listed != nil {
		err = z.sweep(ctx, listed, &changes)
	}
	if err = joinErrors(err, z.files.Update(ctx, changes)); err != nil {
		z.st.log.Debug("index not written", "err", err)
	}
}

// sweep notes the sessions of which the index knows and which are gone, or may be
// others by now, and removes the rows files of those that are gone.
func (z *summarizer) sweep(ctx context.Context, listed []place, changes *index.Changes) error {
	there := make(map[string]*place, len(listed))
	for i := range listed {
		there[listed[i].id] = &listed[i]
	}
	for n := range index.Shards {
		for id, e := range z.shard(n) {
			if there[id] == nil {
				there[id] = z.unlisted(id)
			}
			switch p := there[id]; {
			case p == nil:
				changes.Gone = append(changes.Gone, id)
			case p.number >= 0 && z.summarized[p.number], e.Dir.Stamp == sessiondir.Stamp{}, e.Dir.Stamp.Same(p.dir):
			default:
				changes.Stale = append(changes.Stale, id)
			}
		}
	}
	var names map[string]bool
	return z.files.Sweep(ctx, func(name string) bool {
		if names == nil {
			names = make(map[string]bool, len(there))
			for id, p := range there {
				names[index.RowsName(id)] = p != nil
			}
		}
		return names[name]
	})
}

// unlisted returns where a session is that was not listed, nil if it is gone.
func (z *summarizer) unlisted(id string) *place {
	is, _, err := z.stat(id, ".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return &place{id: id, number: -1, dir: is}
}

// forget removes what the index has of session id, which was removed.
func (st *Store) forget(ctx context.Context, id string) error {
	return st.index().Forget(context.WithoutCancel(ctx), id)
}
