package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

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

// List returns the sessions, the one modified last first, as the reference
// does: every directory counts, but for hidden ones.
//
// [Open] makes the sessions directory. When it was moved or removed since then,
// List does not say that there are no sessions: the error Is [ErrNotFound] and
// names the directory. The next call that makes a session makes the directory
// anew.
func (st *Store) List(ctx context.Context, opts *ListOptions) ([]Info, error) {
	start := st.clock()
	err := st.begin(ctx)
	if err != nil {
		return nil, st.called(ctx, "list", "", start, wrap("list", "", err))
	}
	defer st.done()
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

// seconds is a time as Python's st_mtime: two times that it cannot tell apart
// keep the order of the directory.
func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.Unix()) + 1e-9*float64(t.Nanosecond())
}

// Exists reports whether there is a session id. It is false for an id that
// cannot be one, and of the zero Store.
func (st *Store) Exists(id string) bool {
	return st.given().base != nil && checkID(id) == nil && st.base.Has(id)
}

// Find returns the one session whose id begins with prefix. Space around prefix
// is ignored. An id that equals prefix wins over longer ones. The error Is
// [ErrNotFound] when there is none, and also when the sessions directory was
// moved or removed; its text tells the two apart. It is an [*AmbiguousError]
// when there are several. Of opts only All has a meaning here.
func (st *Store) Find(ctx context.Context, prefix string, opts *ListOptions) (string, error) {
	err := st.begin(ctx)
	if err != nil {
		return "", wrap("find", "", err)
	}
	defer st.done()
	prefix = strings.TrimFunc(prefix, isSpace)
	if prefix == "" {
		return "", &textError{"Session ID cannot be empty", ErrInvalidID}
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
		return "", &textError{fmt.Sprintf("No session found matching '%s'", shown(prefix)), ErrNotFound}
	case 1:
		return strings.Clone(found[0].ID), nil // it is part of a text of many
	}
	matches := make([]string, len(found))
	for i, info := range found {
		matches[i] = info.ID
	}
	return "", &AmbiguousError{Prefix: prefix, Matches: matches}
}
