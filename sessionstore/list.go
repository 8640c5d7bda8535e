package sessionstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// ListOptions narrow a listing. Nil is the zero value.
type ListOptions struct {
	All   bool // sub-sessions too; the default is top-level only
	Limit int  // 0: no limit
}

// Info is one session of a listing.
type Info struct {
	ID       string
	Modified time.Time // of the session's directory, which every save moves
}

// List returns the sessions, the one modified last first, as the reference
// does: every directory counts, but for hidden ones. The names that List or
// [Store.Find] read are kept, some 40 bytes a session, and not read again until
// the time of the sessions directory tells that they changed. From the second
// List on, metadata of up to 4 KiB that [Store.Metadata] reads is kept, too, up
// to 32 MiB, and not read again while the file is unchanged. Both hold for
// local file systems of Linux only.
func (st *Store) List(ctx context.Context, opts *ListOptions) ([]Info, error) {
	start := st.clock()
	done, err := st.begin(ctx)
	if err != nil {
		return nil, st.called(ctx, "list", "", start, wrap("list", "", err))
	}
	defer done()
	o := ListOptions{}
	if opts != nil {
		o = *opts
	}
	infos, err := st.list(o, "")
	return infos, st.called(ctx, "list", "", start, wrap("list", "", err))
}

// list returns the sessions whose ids begin with prefix.
func (st *Store) list(o ListOptions, prefix string) ([]Info, error) {
	entries, err := st.base.Entries(func(id string) bool { return strings.HasPrefix(id, prefix) && (o.All || IsTopLevel(id)) })
	if err != nil {
		return nil, err
	}
	if prefix == "" {
		st.listed.note(entries, o.All)
	}
	infos := infosOf(entries)
	if o.Limit > 0 && o.Limit < len(infos) {
		infos = infos[:o.Limit]
	}
	return infos, nil
}

// infosOf returns the sessions of entries, newest first; equal times keep the
// order of the directory.
func infosOf(entries []sessiondir.Entry) []Info {
	type place struct {
		at    float64
		entry int
	}
	order := make([]place, len(entries))
	for i, e := range entries {
		order[i] = place{seconds(e.Modified), i}
	}
	slices.SortFunc(order, func(a, b place) int {
		switch {
		case a.at > b.at:
			return -1
		case a.at < b.at:
			return 1
		}
		return a.entry - b.entry
	})
	infos := make([]Info, len(entries))
	for i, p := range order {
		infos[i] = Info{entries[p.entry].Name, entries[p.entry].Modified}
	}
	return infos
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
// cannot be one.
func (st *Store) Exists(id string) bool {
	return checkID(id) == nil && st.base.Has(id)
}

// Find returns the one session whose id begins with prefix, of which space
// around it is ignored; an id that equals it wins. The error Is [ErrNotFound]
// when there is none and an [*AmbiguousError] when there are several.
// opts.Limit has no meaning here.
func (st *Store) Find(ctx context.Context, prefix string, opts *ListOptions) (string, error) {
	done, err := st.begin(ctx)
	if err != nil {
		return "", wrap("find", "", err)
	}
	defer done()
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
		return "", &textError{fmt.Sprintf("No session found matching '%s'", prefix), ErrNotFound}
	case 1:
		return strings.Clone(found[0].ID), nil // it is part of a text of many
	}
	matches := make([]string, len(found))
	for i, info := range found {
		matches[i] = info.ID
	}
	return "", &AmbiguousError{Prefix: prefix, Matches: matches}
}
