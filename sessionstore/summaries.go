package sessionstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/store/index"
)

// Summaries yields a summary of each session, in the order of Changed. This is the order
// of [Store.List], but for imported sessions, which Summaries reads before all sessions
// that changed before their import. The first row is there before any other session is
// read; later rows are made some hundred in advance, on all processors. A session that is
// removed in between is left out.
//
// A session that cannot be read hides no other session. After all others, Summaries
// yields one row with an error for each session, up to the last that is shown, whose
// directory, transcript or metadata cannot be read: the process has no rights, the name
// belongs to something other than a file, a symlink leads out of the directory or
// nowhere, or the name cannot be an id. Such a row has ID and Changed alone, and
// ListOptions.Limit does not count it. An error without an ID comes last and is the
// reason why there are no more rows.
//
// On local file systems of Linux, Summaries keeps an index in the sessions directory, for
// the owner alone, and the next Summaries, of any process, reads only the sessions that
// have changed. The call that removes a session removes its entry from the index; if
// another tool removed the session, the next Summaries does. Where the index cannot be
// written, Summaries reads everything each time.
func (st *Store) Summaries(ctx context.Context, o *ListOptions) iter.Seq2[Summary, error] {
	return func(yield func(Summary, error) bool) {
		this := func(string) (*Store, bool, error) { return st, false, nil }
		_ = summariesOf(ctx, []string{""}, this, o, func(_ string, s Summary, err error) bool { return yield(s, err) }) // it opens no store, so it closes none
	}
}

// Latest returns the session to go on with: the first of [Store.Summaries] that is no
// sub-session and not labelled internal. A session that cannot be read is skipped, and
// its error is returned when there is no other. The error Is [ErrNotFound] when there is
// none at all.
func (st *Store) Latest(ctx context.Context) (Summary, error) {
	var failed error
	for s, err := range st.Summaries(ctx, &ListOptions{NoInternal: true, Limit: 1}) {
		if err == nil {
			return s, nil
		}
		failed = joinErrors(failed, err)
	}
	if failed == nil {
		failed = wrap("find the latest", "", errNone)
	}
	return Summary{}, failed
}

var errNone = limits.Errorf(ErrNotFound, "there is no session to go on with")

// changedSince takes the rows of a listing that changed at the time since or later, and
// returns them, the last changed first, and the rest. Rows come in the order of their
// directories; an imported session changed earlier than its directory.
func changedSince(rows []summarized, since time.Time) (due, rest []summarized) {
	at, n := seconds(since), 0
	for _, r := range rows {
		if seconds(r.Changed) >= at {
			due = append(due, r)
		} else {
			rows[n] = r
			n++
		}
	}
	slices.SortStableFunc(due, func(a, b summarized) int { return cmp.Compare(seconds(b.Changed), seconds(a.Changed)) })
	return due, rows[:n]
}

// reached reports whether a listing that has shown so many sessions is complete.
func (o *ListOptions) reached(shown int) bool { return o != nil && o.Limit > 0 && shown >= o.Limit }

// ahead returns the most sessions that a listing that has shown so many reads at once.
// Where sessions may be left out, the number needed is not known.
func (o *ListOptions) ahead(shown int) int {
	if o == nil || o.Limit <= 0 || o.NoInternal && shown < o.Limit {
		return maxAhead
	}
	return o.Limit - shown
}

// summarized is a session of a listing with its summary, or a project that could not be
// read.
type summarized struct {
	project string
	Summary
	found bool // false: it is gone, or could not be summarized
	err   error
}

// listed reports whether the session is in a listing of o.
func (s *summarized) listed(o *ListOptions) bool {
	return s.found && (o == nil || !o.NoInternal || !s.Internal)
}

// Summary returns the summary of one session. See [Store.Summaries].
func (st *Store) Summary(ctx context.Context, id string) (Summary, error) {
	s, err := st.summary(ctx, id)
	return s, wrap("summarize", id, err)
}

func (st *Store) summary(ctx context.Context, id string) (Summary, error) {
	if err := checkID(id); err != nil {
		return Summary{}, err
	}
	if err := st.admit(ctx); err != nil {
		return Summary{}, err
	}
	defer st.calls.Done()
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

// places returns the sessions in the order of a listing.
func (z *summarizer) places(o *ListOptions) ([]place, error) {
	all := o != nil && o.All
	entries, err := z.st.base.EntriesAndLost(func(id string) bool { return all || IsTopLevel(id) })
	if err != nil {
		return nil, err
	}
	places := make([]place, len(entries))
	for i, n := range listOrder(entries) {
		e := &entries[n]
		places[i] = place{id: e.Name, number: i, changed: e.Modified, lost: e.Lost}
		if !e.Symlink {
			places[i].dir = e.Stamp
		}
	}
	z.summarized = make([]bool, len(places))
	return places, nil
}

// next summarizes a session of a listing.
func (z *summarizer) next(ctx context.Context, p *place) summarized {
	err := cmp.Or(ctx.Err(), p.lost, checkID(p.id))
	if err == nil {
		var s Summary
		if s, err = z.summarize(ctx, *p); err == nil {
			return summarized{p.project, s, true, nil}
		}
	}
	if errors.Is(err, ErrNotFound) && !z.st.base.Has(p.id) {
		return summarized{}
	}
	return p.failed(err)
}

// failed returns the row of a session that could not be summarized: it has the id and the
// time alone.
func (p *place) failed(err error) summarized {
	return summarized{project: p.project, Summary: Summary{ID: p.id, Changed: p.changed}, err: err}
}

// write brings the index up to date. With a listing, it also removes the sessions that
// are gone, and the changed sessions that were not summarized: another session may have
// their id now. Sessions that could not be written are read again next time.
func (z *summarizer) write(ctx context.Context, listed []place) {
	var err error
	if listed != nil {
		err = z.sweep(ctx, listed)
	}
	if err = joinErrors(err, z.files.Update(ctx, z.changes)); err != nil {
		z.st.log.Log(ctx, indexLevel(err), "index not written, so each list reads all sessions", "err", err)
	}
	z.changes = nil
}

// indexLevel returns the level at which it is told that the index was not written: something
// that stands in the place of its directory stays there until a person moves it away.
func indexLevel(err error) slog.Level {
	if errors.Is(err, syscall.ENOTDIR) {
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

// sweep notes the sessions in the index that are gone, or may be other sessions now, and
// removes the rows files of the sessions that are gone.
func (z *summarizer) sweep(ctx context.Context, listed []place) error {
	files, err := z.files.Names()
	if err != nil {
		return err
	}
	there := make(map[string]*place, len(listed))
	for i := range listed {
		there[listed[i].id] = &listed[i]
	}
	for _, name := range files {
		n, ok := index.ShardIn(name)
		if !ok {
			continue
		}
		for id, e := range z.shard(n) {
			if there[id] == nil {
				there[id] = z.unlisted(id)
			}
			switch p := there[id]; {
			case p == nil:
				z.change(index.Change{ID: id, Gone: true})
			case p.number >= 0 && z.summarized[p.number], e.Dir.Stamp == sessiondir.Stamp{}, e.Dir.Stamp.Same(p.dir):
			default:
				z.change(index.Change{ID: id})
			}
		}
	}
	var names map[string]bool
	return z.files.Sweep(ctx, files, func(name string) bool {
		if names == nil {
			names = make(map[string]bool, len(there))
			for id, p := range there {
				names[index.RowsName(id)] = p != nil
			}
		}
		return names[name]
	})
}

// unlisted returns the place of a session that was not listed, nil if it is gone.
func (z *summarizer) unlisted(id string) *place {
	is, _, err := z.stat(id, ".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return &place{id: id, number: -1, dir: is}
}

// forget removes the entry of session id, which was removed, from the index.
func (st *Store) forget(ctx context.Context, id string) error {
	return st.index().Forget(context.WithoutCancel(ctx), id)
}

// ListOptions narrow a listing. Nil is the zero value.
type ListOptions struct {
	All        bool // sub-sessions too; the default is top-level only
	NoInternal bool // without sessions that are labelled internal, see [KindOf]; List reads metadata for it then
	Limit      int  // 0: no limit
}

// Info is one session of a listing.
type Info struct {
	ID       string
	Modified time.Time // of the session's directory, which every save moves
}

// List returns the sessions, the last modified first, as the reference does: every
// directory counts, except hidden ones.
//
// [Open] makes the sessions directory. When it was moved or removed since then, List does
// not return an empty list: the error Is [ErrNotFound] and names the directory. The next
// call that makes a session makes the directory anew.
func (st *Store) List(ctx context.Context, opts *ListOptions) ([]Info, error) {
	start := st.clock()
	err := st.admit(ctx)
	if err != nil {
		return nil, st.called(ctx, "list", "", start, wrap("list", "", err))
	}
	defer st.calls.Done()
	o := ListOptions{}
	if opts != nil {
		o = *opts
	}
	infos, err := st.list(o, "")
	if err == nil && o.NoInternal {
		infos, err = st.withoutInternal(ctx, infos, o.Limit)
	}
	return infos, st.called(ctx, "list", "", start, wrap("list", "", err))
}

// list returns the sessions whose ids begin with prefix.
func (st *Store) list(o ListOptions, prefix string) ([]Info, error) {
	entries, err := st.base.Entries(func(id string) bool { return strings.HasPrefix(id, prefix) && (o.All || IsTopLevel(id)) })
	if err != nil {
		return nil, err
	}
	infos := infosOf(entries)
	if o.Limit > 0 && o.Limit < len(infos) && !o.NoInternal {
		infos = infos[:o.Limit]
	}
	return infos, nil
}

// withoutInternal returns the first of the sessions that are not labelled
// internal, as far as their metadata can be read. A limit of 0 is none.
func (st *Store) withoutInternal(ctx context.Context, infos []Info, limit int) ([]Info, error) {
	shown := infos[:0:0]
	for _, info := range infos {
		if limit > 0 && len(shown) == limit {
			break
		}
		md, err := st.Metadata(ctx, info.ID)
		switch {
		case errors.Is(err, ErrNotFound): // it was removed just now
			continue
		case err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrInvalidID):
			return nil, err
		}
		if kind, _ := KindOf(info.ID, md); kind != Internal {
			shown = append(shown, info)
		}
	}
	return shown, nil
}

// infosOf returns the sessions of entries in the order of a listing.
func infosOf(entries []sessiondir.Entry) []Info {
	infos := make([]Info, len(entries))
	for i, n := range listOrder(entries) {
		infos[i] = Info{entries[n].Name, entries[n].Modified}
	}
	return infos
}

// listOrder returns the indexes of entries in the order of a listing: newest
// first; equal times keep the order of the directory.
func listOrder(entries []sessiondir.Entry) []int {
	order := make([]int, len(entries))
	at := make([]float64, len(entries))
	for i, e := range entries {
		order[i], at[i] = i, seconds(e.Modified)
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case at[a] > at[b]:
			return -1
		case at[a] < at[b]:
			return 1
		}
		return a - b
	})
	return order
}

// seconds returns a time as Python's st_mtime: times that are equal in this form keep the
// order of the directory.
func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.Unix()) + 1e-9*float64(t.Nanosecond())
}

// Exists reports whether there is a session id. It returns false for a text that cannot
// be an id, and for the zero Store.
func (st *Store) Exists(id string) bool {
	return st.given().base != nil && checkID(id) == nil && st.base.Has(id)
}

// Find returns the one session whose id begins with prefix. Space around prefix is
// ignored. An id that equals prefix wins over longer ones. The error Is [ErrNotFound]
// when there is none, and also, with another text, when the sessions directory was moved
// or removed. It is an [*AmbiguousError] when there are several. Of opts only All has a
// meaning here.
func (st *Store) Find(ctx context.Context, prefix string, opts *ListOptions) (string, error) {
	err := st.admit(ctx)
	if err != nil {
		return "", wrap("find", "", err)
	}
	defer st.calls.Done()
	prefix = strings.TrimFunc(prefix, isSpace)
	if prefix == "" {
		return "", limits.Reference(ErrInvalidID, "Session ID cannot be empty")
	}
	all := opts != nil && opts.All
	if st.Exists(prefix) && (all || IsTopLevel(prefix)) {
		return prefix, nil
	}
	found, err := st.list(ListOptions{All: all}, prefix)
	if err != nil {
		return "", wrap("find", "", err)
	}
	switch len(found) {
	case 0:
		return "", limits.Reference(ErrNotFound, fmt.Sprintf("No session found matching '%s'", shown(prefix)))
	case 1:
		return strings.Clone(found[0].ID), nil // found[0].ID shares the memory of many ids
	}
	matches := make([]string, len(found))
	for i, info := range found {
		matches[i] = info.ID
	}
	return "", &AmbiguousError{Prefix: prefix, Matches: matches}
}
